import { ApiProperty } from '@nestjs/swagger';
import { shownHint } from '../../common/fields/secret-text.rules.js';
import { sealedBytes } from '../../platform/vault/sealed-blob.rules.js';
import { API_STYLES, type ApiStyle, type EndpointStyle } from '../../upstreams/api-style.rules.js';
import { baseUrlWarning } from '../../upstreams/base-url.rules.js';
import { dialectOf } from '../../upstreams/provider-dialect.js';
import { PROVIDER_TYPES, type ProviderType } from '../../upstreams/provider-types.js';
import { GATEWAY_TYPES, type GatewayRouteOptions } from '../../upstreams/routes/gateway-types.js';
import type { ProviderRoute } from '../../upstreams/routes/provider-route.js';
import { type ProviderStatus, type StoredPricing, TEST_RESULTS, type TestResult } from '../provider.entity.js';
import type { ProbeOutcome } from '../provider-probe.js';
import type { RoutedProvider } from '../provider-routes.service.js';
import { CUSTOM_PRICING, GATEWAY_ROUTE, WithCustomPricing } from './shared-schemas.js';

class ProviderCapabilityResponse {
  @ApiProperty({ type: 'array', items: { type: 'string', enum: [...API_STYLES] }, description: 'Styles it serves.' })
  apiStyles: readonly ApiStyle[];

  @ApiProperty({
    type: 'array',
    items: { type: 'string', enum: ['responses', 'transcription'] },
    description: 'Styles of named endpoints it can serve.',
  })
  endpointStyles: readonly EndpointStyle[];

  @ApiProperty({ type: 'string', nullable: true, description: 'The prefix that a gateway requires for model names.' })
  modelPrefix: string | null;

  @ApiProperty({
    type: 'string',
    enum: ['provider', 'gateway'],
    description: 'Whether calls use the provider’s or the gateway’s paths.',
  })
  paths: 'provider' | 'gateway';

  @ApiProperty({ type: 'array', items: { type: 'string' }, description: 'Paths that an empty `allowed_paths` allows.' })
  inferencePaths: readonly string[];

  /** @param route null: this version does not support it, so it has no capabilities. */
  static of(route: ProviderRoute | null, type: ProviderType): ProviderCapabilityResponse {
    return Object.assign(new ProviderCapabilityResponse(), {
      inferencePaths: route === null ? [] : dialectOf(type).inferencePaths,
      apiStyles: route?.apiStyles ?? [],
      endpointStyles: [...(route?.endpointPaths.keys() ?? [])],
      modelPrefix: route?.modelPrefix ?? null,
      paths: route?.paths ?? 'gateway',
    });
  }
}

class ProviderTestRecord {
  @ApiProperty({ type: 'string', format: 'date-time' })
  at: string;

  @ApiProperty({
    type: 'string',
    enum: TEST_RESULTS,
    description: '`refused`: 401 or 403. `unexpected_status`: any other non-success status.',
  })
  result: TestResult;
}

@WithCustomPricing()
class ProviderResource {
  @ApiProperty({ type: 'string', format: 'uuid' })
  id: string;

  @ApiProperty({ type: 'string', enum: PROVIDER_TYPES })
  type: ProviderType;

  @ApiProperty({ type: 'string', description: 'Names the instance in paths and configurations.' })
  slug: string;

  @ApiProperty({ type: 'string', description: 'For people.' })
  name: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'The end of the key: its last 4 characters, or 2 below 16 characters. The key itself is never returned. Null when a gateway owns the credential.',
  })
  secretHint: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'The upstream gateway that calls go through.' })
  providerGatewayId: string | null;

  @ApiProperty({ ...GATEWAY_ROUTE, nullable: true, description: 'Options of the route through that gateway.' })
  gatewayRoute: GatewayRouteOptions | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'The address used instead of the type’s own.' })
  baseUrl: string | null;

  @ApiProperty({ ...CUSTOM_PRICING, nullable: true, description: 'Prices by model that replace the catalog’s.' })
  pricing: StoredPricing | null;

  @ApiProperty({
    type: 'string',
    enum: ['direct', ...GATEWAY_TYPES],
    nullable: true,
    description: 'How calls reach the provider. Null: unknown to this version.',
  })
  route: ProviderRoute['kind'] | null;

  @ApiProperty({ type: ProviderCapabilityResponse, description: 'What the type serves on this route.' })
  capability: ProviderCapabilityResponse;

  @ApiProperty({
    type: ProviderTestRecord,
    nullable: true,
    description: 'The last test of the stored credential; null while the present one is untested.',
  })
  lastTest: ProviderTestRecord | null;

  @ApiProperty({
    type: [String],
    required: false,
    description:
      'What to know of these settings, such as a `baseUrl` that repeats a part of each path; absent without any.',
  })
  warnings?: readonly string[];

  @ApiProperty({ type: 'integer', minimum: 1, description: 'Increases by one with each update.' })
  revision: number;

  @ApiProperty({ type: 'string', enum: ['active', 'disabled'] })
  status: ProviderStatus;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: string;

  @ApiProperty({ type: 'string', description: 'Identity of the creator.' })
  createdBy: string;

  static from({ row, route }: RoutedProvider): ProviderResource {
    const { id, type, slug, name, secretHint, providerGatewayId, gatewayRoute, baseUrl, pricing } = row;
    const { revision, status, createdAt, createdBy, testedAt, testResult } = row;
    const warning = route === null || baseUrl === null ? undefined : baseUrlWarning(type, baseUrl);
    return Object.assign(new ProviderResource(), {
      id,
      type,
      slug,
      name,
      secretHint: secretHint && shownHint(secretHint, sealedBytes(row.secretBlob ?? '')),
      providerGatewayId,
      gatewayRoute,
      baseUrl,
      pricing,
      route: route?.kind ?? null,
      capability: ProviderCapabilityResponse.of(route, type),
      lastTest: testedAt && testResult && { at: testedAt.toISOString(), result: testResult },
      ...(warning !== undefined && { warnings: [warning] }),
      revision,
      status,
      createdAt: createdAt.toISOString(),
      createdBy,
    });
  }
}

export class ProviderResponse {
  @ApiProperty({ type: ProviderResource })
  provider: ProviderResource;

  static from(provider: RoutedProvider): ProviderResponse {
    return Object.assign(new ProviderResponse(), { provider: ProviderResource.from(provider) });
  }
}

export class ProviderListResponse {
  @ApiProperty({ type: [ProviderResource], description: 'Oldest first.' })
  providers: ProviderResource[];

  static from(providers: readonly RoutedProvider[]): ProviderListResponse {
    return Object.assign(new ProviderListResponse(), { providers: providers.map(ProviderResource.from) });
  }
}

export class DeletedProviderResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  deleted: boolean;

  @ApiProperty({ type: 'string' })
  provider_id: string;

  static from(id: string): DeletedProviderResponse {
    return Object.assign(new DeletedProviderResponse(), { deleted: true, provider_id: id });
  }
}

export class ProviderTestResponse implements ProbeOutcome {
  @ApiProperty({ type: 'boolean', description: 'True when the provider accepted the key.' })
  validated: boolean;

  @ApiProperty({
    type: 'string',
    enum: ['unreachable', 'unexpected_status', 'no_probe'],
    required: false,
    description: 'Why the key could not be validated; absent when validated.',
  })
  reason?: 'unreachable' | 'unexpected_status' | 'no_probe';

  @ApiProperty({ type: 'integer', required: false, description: 'The provider’s status, with `unexpected_status`.' })
  status?: number;

  @ApiProperty({
    type: [String],
    required: false,
    description: 'What may be the cause of an `unexpected_status`; absent if nothing is known.',
  })
  warnings?: readonly string[];

  static from(outcome: ProbeOutcome): ProviderTestResponse {
    return Object.assign(new ProviderTestResponse(), outcome);
  }
}
