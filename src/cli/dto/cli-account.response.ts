import { ApiExtraModels, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { DeploymentFacts } from '../../accounts/access/deployment.js';
import { OrganizationResource } from '../../accounts/organizations/dto/organizations.response.js';
import type { Organization } from '../../accounts/organizations/organizations.repository.js';
import { API_STYLES, type ApiStyle, type EndpointStyle } from '../../upstreams/api-style.rules.js';
import type { ProviderDialect } from '../../upstreams/provider-dialect.js';
import { PROVIDER_TYPES, type ProviderType } from '../../upstreams/provider-types.js';
import { GATEWAY_TYPES, type GatewayType } from '../../upstreams/routes/gateway-types.js';
import type { AccountUsage } from '../../usage/reports/app-usage-totals.service.js';
import { UsageTotalsResponse } from '../../usage/reports/dto/usage-reports.response.js';
import { DeploymentResource } from './operation.response.js';

const GATEWAY_NAMES: Readonly<Record<GatewayType, string>> = {
  cf_aig: 'Cloudflare AI Gateway',
  vercel: 'Vercel AI Gateway',
};

class OfferedProvider {
  @ApiProperty({ type: 'string', enum: PROVIDER_TYPES })
  type: ProviderType;

  @ApiProperty({ type: 'string' })
  name: string;

  @ApiProperty({ type: 'string', format: 'uri' })
  baseUrl: string;

  @ApiPropertyOptional({ type: 'string', description: 'A path of an inference call.' })
  defaultPath?: string;

  @ApiProperty({ type: 'array', items: { type: 'string', enum: [...API_STYLES] } })
  apiStyles: readonly ApiStyle[];

  @ApiProperty({ type: 'array', items: { type: 'string', enum: ['responses', 'transcription'] } })
  endpointStyles: readonly EndpointStyle[];

  static from({ type, label, baseUrl, inferencePaths, apiStyles, endpointStyles }: ProviderDialect): OfferedProvider {
    const [defaultPath] = inferencePaths;
    return Object.assign(new OfferedProvider(), {
      ...{ type, name: label, baseUrl, apiStyles, endpointStyles: [...endpointStyles.keys()] },
      ...(defaultPath === undefined ? {} : { defaultPath }),
    });
  }
}

class OfferedGateway {
  @ApiProperty({ type: 'string', enum: [...GATEWAY_TYPES] })
  type: GatewayType;

  @ApiProperty({ type: 'string' })
  name: string;
}

class CliFeatures {
  @ApiProperty({ type: 'boolean', description: 'Whether a terminal can log in through a browser.' })
  browserLogin: boolean;
}

export class CliCapabilitiesResponse {
  @ApiProperty({ type: 'integer', enum: [1] })
  protocolVersion: number;

  @ApiProperty({ type: 'string' })
  serverVersion: string;

  @ApiProperty({ type: DeploymentResource })
  deployment: DeploymentResource;

  @ApiProperty({ type: 'string', format: 'uri' })
  consoleOrigin: string;

  @ApiProperty({ type: [OfferedProvider] })
  providers: OfferedProvider[];

  @ApiProperty({ type: [OfferedGateway] })
  providerGateways: OfferedGateway[];

  @ApiProperty({ type: CliFeatures })
  features: CliFeatures;

  static from(
    serverVersion: string,
    deployment: DeploymentFacts,
    dialects: readonly ProviderDialect[],
  ): CliCapabilitiesResponse {
    return Object.assign(new CliCapabilitiesResponse(), {
      ...{ protocolVersion: 1, serverVersion, deployment, consoleOrigin: deployment.consoleOrigin },
      providers: dialects.map(OfferedProvider.from),
      providerGateways: GATEWAY_TYPES.map((type) => ({ type, name: GATEWAY_NAMES[type] })),
      features: { browserLogin: true },
    });
  }
}

class BillingAccess {
  @ApiProperty({ type: 'string', enum: ['self_hosted'] })
  state: 'self_hosted';
}

class AccountBilling {
  @ApiProperty({ type: BillingAccess })
  access: BillingAccess;
}

export class CliAccountResponse {
  @ApiProperty({ type: DeploymentResource })
  deployment: DeploymentResource;

  @ApiProperty({ type: OrganizationResource })
  account: OrganizationResource;

  @ApiProperty({ type: AccountBilling })
  billing: AccountBilling;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, description: 'Null: nothing is metered.' })
  usage: null;

  static from(deployment: DeploymentFacts, account: Organization): CliAccountResponse {
    return Object.assign(new CliAccountResponse(), {
      ...{ deployment, account: OrganizationResource.from(account) },
      ...{ billing: { access: { state: 'self_hosted' } }, usage: null },
    });
  }
}

class AccountAppUsageResponse extends UsageTotalsResponse {
  @ApiProperty({ type: 'string' })
  appId: string;

  @ApiProperty({ type: 'boolean', description: 'Whether the application is deleted; its usage stays.' })
  deleted: boolean;

  @ApiProperty({ type: 'string', format: 'date', description: 'UTC day of the oldest stored request.' })
  firstRecord: string;
}

class UsageCoverage {
  @ApiProperty({ type: 'string', enum: ['retained_account_usage'] })
  scope: 'retained_account_usage';

  @ApiProperty({ type: 'string', format: 'date', nullable: true })
  firstRecord: string | null;
}

@ApiExtraModels(UsageTotalsResponse)
export class CliUsageResponse {
  @ApiProperty({ type: 'string' })
  accountId: string;

  @ApiProperty({ type: 'string', example: '2026-01' })
  month: string;

  @ApiProperty({ type: UsageTotalsResponse })
  totals: UsageTotalsResponse;

  @ApiProperty({ type: [AccountAppUsageResponse], description: 'Every application with usage, deleted ones included.' })
  apps: AccountAppUsageResponse[];

  @ApiProperty({ type: UsageCoverage })
  coverage: UsageCoverage;

  static from(
    { accountId, month }: { readonly accountId: string; readonly month: string },
    usage: AccountUsage,
    existing: ReadonlySet<string>,
  ): CliUsageResponse {
    const apps = usage.apps.map(({ appId, firstDay, totals }) => ({
      ...{ appId, deleted: !existing.has(appId), firstRecord: firstDay },
      ...totals,
    }));
    const coverage = { scope: 'retained_account_usage', firstRecord: usage.firstDay };
    return Object.assign(new CliUsageResponse(), { accountId, month, totals: usage.totals, apps, coverage });
  }
}
