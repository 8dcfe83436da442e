import { ApiExtraModels, ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { shownHint } from '../../../common/fields/secret-text.rules.js';
import { sealedBytes } from '../../../platform/vault/sealed-blob.rules.js';
import { GATEWAY_DOUBTS, type GatewayDoubt, type GatewayProbeOutcome } from '../../provider-probe.js';
import type { ProviderGatewayConfig, ProviderGatewayStatus } from '../provider-gateway.entity.js';
import type { CountedProviderGateway } from '../provider-gateways.service.js';
import { byTypeSchema } from './by-gateway-type.js';

class CfAigPlaceResponse {
  @ApiProperty({ type: 'string', description: 'The gateway’s account at Cloudflare.' })
  accountId: string;

  @ApiProperty({ type: 'string', description: 'The gateway within that account.' })
  gatewayId: string;
}

/** The members of every type. */
abstract class GatewayResource {
  @ApiProperty({ type: 'string', format: 'uuid' })
  id: string;

  @ApiProperty({ type: 'string', description: 'For people.' })
  name: string;

  @ApiProperty({
    type: 'string',
    description:
      'The end of the token: its last 4 characters, or 2 below 16 characters. The token itself is never returned.',
  })
  secretHint: string;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Active providers that are routed through it.' })
  providerCount: number;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'All providers that name it, disabled ones included: it can be deleted when there are none.',
  })
  referencedCount: number;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'Increases by one with each change.' })
  revision: number;

  @ApiProperty({ type: 'string', enum: ['active', 'revoked'] })
  status: ProviderGatewayStatus;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  updatedAt: string;

  @ApiProperty({ type: 'string', description: 'Identity of the creator.' })
  createdBy: string;
}

class CfAigProviderGateway extends GatewayResource {
  @ApiProperty({ type: 'string', enum: ['cf_aig'], description: 'Cloudflare AI Gateway.' })
  type: 'cf_aig';

  @ApiProperty({ type: CfAigPlaceResponse })
  config: Required<ProviderGatewayConfig>;
}

class VercelProviderGateway extends GatewayResource {
  @ApiProperty({ type: 'string', enum: ['vercel'], description: 'Vercel AI Gateway.' })
  type: 'vercel';

  @ApiProperty({ type: 'object', additionalProperties: false, description: 'Always empty.' })
  config: Record<string, never>;
}

/** A gateway of a type that only another version supports. */
class UnknownProviderGateway extends GatewayResource {
  type: string;

  config: ProviderGatewayConfig;
}

/** A union type, because a class would add another required schema to the document. */
type ProviderGateway = CfAigProviderGateway | VercelProviderGateway | UnknownProviderGateway;

const FORMS = { cf_aig: CfAigProviderGateway, vercel: VercelProviderGateway };
const BY_TYPE: ApiPropertyOptions = byTypeSchema(FORMS);

/** Accepts any type: a gateway of an unknown type must not make the list fail. */
function toResource({ row, use }: CountedProviderGateway): ProviderGateway {
  const { id, type, name, config, secretBlob, secretHint, revision, status, createdAt, updatedAt, createdBy } = row;
  const Form = Object.hasOwn(FORMS, type) ? FORMS[type] : UnknownProviderGateway;
  return Object.assign(new Form(), {
    id,
    type,
    name,
    config,
    secretHint: shownHint(secretHint, sealedBytes(secretBlob)),
    providerCount: use.active,
    referencedCount: use.active + use.disabled,
    revision,
    status,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    createdBy,
  });
}

@ApiExtraModels(...Object.values(FORMS))
export class ProviderGatewayResponse {
  @ApiProperty(BY_TYPE)
  gateway: ProviderGateway;

  static from(gateway: CountedProviderGateway): ProviderGatewayResponse {
    return Object.assign(new ProviderGatewayResponse(), { gateway: toResource(gateway) });
  }
}

@ApiExtraModels(...Object.values(FORMS))
export class ProviderGatewayListResponse {
  @ApiProperty({ type: 'array', items: byTypeSchema(FORMS), description: 'Oldest first.' })
  gateways: ProviderGateway[];

  static from(gateways: readonly CountedProviderGateway[]): ProviderGatewayListResponse {
    return Object.assign(new ProviderGatewayListResponse(), { gateways: gateways.map(toResource) });
  }
}

export class DeletedProviderGatewayResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  deleted: boolean;

  @ApiProperty({ type: 'string' })
  provider_gateway_id: string;

  static from(id: string): DeletedProviderGatewayResponse {
    return Object.assign(new DeletedProviderGatewayResponse(), { deleted: true, provider_gateway_id: id });
  }
}

export class ProviderGatewayTestResponse implements GatewayProbeOutcome {
  @ApiProperty({ type: 'boolean', description: 'True when the gateway accepted the token.' })
  validated: boolean;

  @ApiProperty({
    type: 'string',
    enum: [...GATEWAY_DOUBTS],
    required: false,
    description: '`rejected` is the gateway’s 401 or 403; absent when validated.',
  })
  reason?: GatewayDoubt;

  @ApiProperty({
    type: 'integer',
    required: false,
    description: 'The gateway’s status; absent when validated or unreachable.',
  })
  status?: number;

  static from(outcome: GatewayProbeOutcome): ProviderGatewayTestResponse {
    return Object.assign(new ProviderGatewayTestResponse(), outcome);
  }
}
