import { ApiProperty } from '@nestjs/swagger';
import type { AppStatus } from '../../app-directory/config/app-config.js';
import { UsageTotalsResponse } from '../../usage/reports/dto/usage-reports.response.js';
import type { UsageTotals } from '../../usage/reports/usage-totals.rules.js';
import type { UserCounts } from '../../users/user-views.repository.js';
import type { AppSummary } from '../app-list.rules.js';
import type { AppList } from '../app-list.service.js';

function Count(description: string): PropertyDecorator {
  return ApiProperty({ type: 'integer', minimum: 0, description });
}

class AppUserCountsResponse implements UserCounts {
  @Count('Users seen, those known from usage only included.')
  total: number;

  @Count('Users blocked.')
  blocked: number;
}

export class AppSummaryResponse {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string' })
  name: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Your own name for it in scripts and files; null: none.',
  })
  handle: string | null;

  @ApiProperty({ type: 'string', enum: ['active', 'disabled'] })
  status: AppStatus;

  @ApiProperty({
    type: 'string',
    enum: ['device_app_attest', 'device_proofs', 'api_key', 'invalid'],
    description: '`invalid`: the stored configuration is no longer valid.',
  })
  authentication_type: AppSummary['authenticationType'];

  @ApiProperty({ type: 'string', nullable: true, description: 'Bundle id of a mobile application.' })
  apple_bundle_id: string | null;

  @ApiProperty({ type: 'string', format: 'date-time' })
  created_at: string;

  @ApiProperty({ type: [String], description: 'Slugs of the active providers it can reach.' })
  providers: readonly string[];

  @ApiProperty({ type: [String], description: 'Slugs and types that its configuration names.' })
  referenced_providers: readonly string[];

  @Count('Number of models its providers are restricted to; 0 if unrestricted.')
  allowed_model_count: number;

  @ApiProperty({ type: 'number', minimum: 0, nullable: true, description: 'Budget of the whole application.' })
  monthly_budget_usd: number | null;

  @ApiProperty({ type: AppUserCountsResponse })
  users: UserCounts;

  @ApiProperty({ type: UsageTotalsResponse, description: 'Of the requested month.' })
  usage: UsageTotals;

  static from({ app, users, usage, ...config }: AppSummary): AppSummaryResponse {
    return Object.assign(new AppSummaryResponse(), {
      id: app.id,
      name: app.name,
      handle: app.handle,
      status: app.status,
      authentication_type: config.authenticationType,
      apple_bundle_id: config.bundleId,
      created_at: app.createdAt.toISOString(),
      providers: config.providers,
      referenced_providers: config.referencedProviders,
      allowed_model_count: config.allowedModelCount,
      monthly_budget_usd: config.monthlyBudgetUsd,
      users,
      usage,
    });
  }
}

export class AppListResponse {
  @ApiProperty({ type: 'string', description: 'UTC month of the usage.', example: '2026-01' })
  month: string;

  @ApiProperty({ type: 'boolean', description: 'Whether the account ever sent a request.' })
  has_proxied_requests: boolean;

  @ApiProperty({ type: UsageTotalsResponse, description: 'Of the whole account, deleted applications included.' })
  usage: UsageTotals;

  @Count('Applications on all pages.')
  total: number;

  @ApiProperty({ type: [AppSummaryResponse], description: 'In the requested order.' })
  apps: AppSummaryResponse[];

  static from({ month, hasProxiedRequests, usage, total, apps }: AppList): AppListResponse {
    return Object.assign(new AppListResponse(), {
      month,
      has_proxied_requests: hasProxiedRequests,
      usage,
      total,
      apps: apps.map(AppSummaryResponse.from),
    });
  }
}
