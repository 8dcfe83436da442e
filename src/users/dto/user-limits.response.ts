import { ApiProperty } from '@nestjs/swagger';
import type { UsageAndLimits } from '../usage-and-limits.rules.js';

export class UserLimitsResponse {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Requests in the current UTC day; null if the application sets no limit per user.',
  })
  requests_today: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'What is left of `requests_per_day`; null without a daily limit.',
  })
  requests_remaining: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Limit for one user; null: no limit.' })
  requests_per_minute: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Limit for one user; null: no limit.' })
  requests_per_day: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Tokens in the current UTC day; null without a daily limit of tokens.',
  })
  tokens_today: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'What is left of the tokens of the day; null without a daily limit of tokens.',
  })
  tokens_remaining: number | null;

  @ApiProperty({ type: 'number', description: 'US dollars spent in the current UTC month.' })
  monthly_cost_usd: number;

  @ApiProperty({
    type: 'number',
    minimum: 0,
    description:
      'Estimate in US dollars beside `monthly_cost_usd` for calls of unknown usage; counts against the budget.',
  })
  estimated_cost_usd: number;

  @ApiProperty({ type: 'number', nullable: true, description: 'US dollars for one user; null without a budget.' })
  monthly_budget_usd: number | null;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'US dollars spent in the current UTC day; null without a daily budget.',
  })
  daily_cost_usd: number | null;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'US dollars for one user and UTC day; null without a daily budget.',
  })
  daily_budget_usd: number | null;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'US dollars spent since Monday, UTC; null without a weekly budget.',
  })
  weekly_cost_usd: number | null;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'US dollars for one user and week; null without a weekly budget.',
  })
  weekly_budget_usd: number | null;

  @ApiProperty({ type: 'boolean', description: 'Calls to providers are refused while this is true.' })
  blocked: boolean;

  static from(standing: UsageAndLimits): UserLimitsResponse {
    return Object.assign(new UserLimitsResponse(), {
      requests_today: standing.requestsToday,
      requests_remaining: standing.requestsRemaining,
      requests_per_minute: standing.requestsPerMinute,
      requests_per_day: standing.requestsPerDay,
      tokens_today: standing.tokensToday,
      tokens_remaining: standing.tokensRemaining,
      monthly_cost_usd: standing.monthlyCostUsd,
      estimated_cost_usd: standing.estimatedCostUsd,
      monthly_budget_usd: standing.monthlyBudgetUsd,
      daily_cost_usd: standing.dailyCostUsd,
      daily_budget_usd: standing.dailyBudgetUsd,
      weekly_cost_usd: standing.weeklyCostUsd,
      weekly_budget_usd: standing.weeklyBudgetUsd,
      blocked: standing.isBlocked,
    });
  }
}
