import { ApiProperty } from '@nestjs/swagger';
import { API_STYLES, type ApiStyle, type EndpointStyle } from '../../upstreams/api-style.rules.js';
import { dialectOf } from '../../upstreams/provider-dialect.js';
import { PROVIDER_TYPES, type ProviderType } from '../../upstreams/provider-types.js';
import type { ProviderRow, ProviderStatus, StoredPricing } from '../provider-row.js';
import { CUSTOM_PRICING, WithCustomPricing } from './custom-pricing.schema.js';

class ProviderCapabilityResponse {
  @ApiProperty({ type: 'array', items: { type: 'string', enum: [...API_STYLES] }, description: 'Styles it serves.' })
  apiStyles: readonly ApiStyle[];

  @ApiProperty({
    type: 'array',
    items: { type: 'string', enum: ['responses', 'transcription'] },
    description: 'Styles of named endpoints it can serve.',
  })
  endpointStyles: readonly EndpointStyle[];

  @ApiProperty({ type: 'string', nullable: true, description: 'What a gateway wants before model names.' })
  modelPrefix: string | null;

  @ApiProperty({ type: 'string', enum: ['provider', 'gateway'], description: 'Whose paths calls use.' })
  paths: 'provider' | 'gateway';

  static of(type: ProviderType): ProviderCapabilityResponse {
    const { apiStyles, endpointStyles } = dialectOf(type);
    return Object.assign(new ProviderCapabilityResponse(), {
      apiStyles,
      endpointStyles: [...endpointStyles.keys()],
      modelPrefix: null,
      paths: 'provider',
    });
  }
}

@WithCustomPricing()
class ProviderResource {
  @ApiProperty({ type: 'string', format: 'uuid' })
  id: string;

  @ApiProperty({ type: 'string', enum: [...PROVIDER_TYPES] })
  type: ProviderType;

  @ApiProperty({ type: 'string', description: 'Names the instance in paths and configurations.' })
  slug: string;

  @ApiProperty({ type: 'string', description: 'For people.' })
  name: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'The end of the key; the key itself is never answered.' })
  secretHint: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'The upstream gateway that calls go through.' })
  providerGatewayId: string | null;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, description: 'Options of that gateway.' })
  gatewayRoute: Record<string, unknown> | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'The address used instead of the type’s own.' })
  baseUrl: string | null;

  @ApiProperty({ ...CUSTOM_PRICING, nullable: true, description: 'Prices by model that replace the catalog’s.' })
  pricing: StoredPricing | null;

  @ApiProperty({ type: 'string', enum: ['direct', 'cf_aig', 'vercel'], description: 'How calls reach the provider.' })
  route: 'direct' | 'cf_aig' | 'vercel';

  @ApiProperty({ type: ProviderCapabilityResponse, description: 'What the type serves on this route.' })
  capability: ProviderCapabilityResponse;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'One more with each update.' })
  revision: number;

  @ApiProperty({ type: 'string', enum: ['active', 'disabled'] })
  status: ProviderStatus;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: string;

  @ApiProperty({ type: 'string', description: 'Identity of the creator.' })
  createdBy: string;

  static from(row: ProviderRow): ProviderResource {
    const { id, type, slug, name, secretHint, baseUrl, pricing, revision, status, createdAt, createdBy } = row;
    return Object.assign(new ProviderResource(), {
      id,
      type,
      slug,
      name,
      secretHint,
      providerGatewayId: null,
      gatewayRoute: null,
      baseUrl,
      pricing,
      route: 'direct',
      capability: ProviderCapabilityResponse.of(type),
      revision,
      status,
      createdAt,
      createdBy,
    });
  }
}

export class ProviderResponse {
  @ApiProperty({ type: ProviderResource })
  provider: ProviderResource;

  static from(row: ProviderRow): ProviderResponse {
    return Object.assign(new ProviderResponse(), { provider: ProviderResource.from(row) });
  }
}

export class ProviderListResponse {
  @ApiProperty({ type: [ProviderResource], description: 'Oldest first.' })
  providers: ProviderResource[];

  static from(rows: readonly ProviderRow[]): ProviderListResponse {
    return Object.assign(new ProviderListResponse(), { providers: rows.map(ProviderResource.from) });
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
