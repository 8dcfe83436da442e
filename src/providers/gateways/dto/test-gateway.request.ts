import { OneOf } from '../../../common/fields/fields.js';
import { GatewayToken, PlaceSegment } from './gateway-fields.js';

const TOKEN = 'The token to test. Not stored.';

class TestCfAigGatewayRequest {
  @OneOf(['cf_aig'], { description: 'Tested by the model list of openai, asked for through the gateway.' })
  type: 'cf_aig';

  @GatewayToken(TOKEN)
  token: string;

  @PlaceSegment('The gateway’s account at Cloudflare.')
  accountId: string;

  @PlaceSegment('The gateway within that account.')
  gatewayId: string;
}

class TestVercelGatewayRequest {
  @OneOf(['vercel'], { description: 'Tested by the balance of the token’s own account.' })
  type: 'vercel';

  @GatewayToken(TOKEN)
  token: string;
}

/** A gateway to test, in the shape of its type. */
export type TestGatewayRequest = TestCfAigGatewayRequest | TestVercelGatewayRequest;

/** The shape of each type. */
export const TEST_FORMS = { cf_aig: TestCfAigGatewayRequest, vercel: TestVercelGatewayRequest };
