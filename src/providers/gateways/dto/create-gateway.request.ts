import { OneOf } from '../../../common/fields/fields.js';
import { GatewayName, GatewayToken, PlaceSegment } from './gateway-fields.js';

const TOKEN = 'The gateway’s token. Stored sealed, never answered.';

class CreateCfAigGatewayRequest {
  @OneOf(['cf_aig'], { description: 'Cloudflare AI Gateway. Cannot change later.' })
  type: 'cf_aig';

  @GatewayName()
  name: string;

  @GatewayToken(TOKEN)
  token: string;

  @PlaceSegment('The gateway’s account at Cloudflare.')
  accountId: string;

  @PlaceSegment('The gateway within that account.')
  gatewayId: string;
}

class CreateVercelGatewayRequest {
  @OneOf(['vercel'], { description: 'Vercel AI Gateway. Cannot change later.' })
  type: 'vercel';

  @GatewayName()
  name: string;

  @GatewayToken(TOKEN)
  token: string;
}

/** A new gateway, in the shape of its type. */
export type CreateGatewayRequest = CreateCfAigGatewayRequest | CreateVercelGatewayRequest;

/** The shape of each type. */
export const CREATE_FORMS = { cf_aig: CreateCfAigGatewayRequest, vercel: CreateVercelGatewayRequest };
