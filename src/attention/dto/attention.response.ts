import { ApiProperty } from '@nestjs/swagger';
import { toUsd } from '../../usage/reports/usage-totals.rules.js';
import { ATTENTION_KINDS, ATTENTION_WINDOWS, type AttentionKind, type AttentionWindow } from '../attention.rules.js';
import type { AttentionItem } from '../attention.service.js';

export class AttentionItemResponse {
  @ApiProperty({
    type: 'string',
    enum: ATTENTION_KINDS,
    description:
      '`provider_failing`: its last calls all failed. `app_budget`: 80 % of a budget of the application is spent. `user_budgets`: users have spent 80 % of one of theirs. `unresolved_costs`: calls of the last 30 days whose cost is not known. `unused_app_key`, `unused_management_key`: not used for 90 days.',
  })
  kind: AttentionKind;

  @ApiProperty({ type: 'string', description: 'Id of the provider, application or key.' })
  id: string;

  @ApiProperty({ type: 'string', description: 'Its name.' })
  name: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'The application; null: it belongs to the account.' })
  app_id: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'Its name.' })
  app_name: string | null;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'Failed calls, at most 100 of each model; users; calls of unknown cost; 1 for others.',
  })
  count: number;

  @ApiProperty({
    type: 'number',
    minimum: 0,
    nullable: true,
    description:
      'US dollars: spent, the highest amount spent by a user, or estimated; null for items without an amount.',
  })
  amount_usd: number | null;

  @ApiProperty({ type: 'number', minimum: 0, nullable: true, description: 'Its budget in US dollars, if any.' })
  budget_usd: number | null;

  @ApiProperty({
    type: 'string',
    enum: [...ATTENTION_WINDOWS, null],
    nullable: true,
    description: 'How long that budget is for: the current day, week (from Monday) or month, UTC, or in total.',
  })
  window: AttentionWindow | null;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description:
      'The first failed call, first day of unknown costs, or last use; creation of a key that was never used.',
  })
  since: string | null;

  static from(item: AttentionItem): AttentionItemResponse {
    return Object.assign(new AttentionItemResponse(), {
      kind: item.kind,
      id: item.id,
      name: item.name,
      app_id: item.appId,
      app_name: item.appName,
      count: Number(item.count),
      amount_usd: item.nanoUsd === null ? null : toUsd(item.nanoUsd),
      budget_usd: item.budgetNanoUsd === null ? null : toUsd(item.budgetNanoUsd),
      window: item.window ?? null,
      since: item.since?.toISOString() ?? null,
    });
  }
}

export class AttentionResponse {
  @ApiProperty({ type: [AttentionItemResponse], description: 'At most 20 of each kind, the most pressing first.' })
  items: AttentionItemResponse[];

  static from(items: readonly AttentionItem[]): AttentionResponse {
    return Object.assign(new AttentionResponse(), { items: items.map(AttentionItemResponse.from) });
  }
}
