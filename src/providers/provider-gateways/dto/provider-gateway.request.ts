import { DisplayName, Int, OneOf, Text, Verbatim } from '../../../common/fields/fields.js';
import { MAX_SECRET_CHARACTERS, MIN_SECRET_CHARACTERS } from '../../../common/fields/secret-text.rules.js';
import { PATH_SEGMENT_PATTERN } from '../provider-gateway-write.rules.js';

/** The display name of a gateway. */
function GatewayName(): PropertyDecorator {
  return DisplayName({ max: 100, description: 'For people.' });
}

/** A gateway's own credential. */
function GatewayToken(description: string): PropertyDecorator {
  return Verbatim({ min: MIN_SECRET_CHARACTERS, max: MAX_SECRET_CHARACTERS, description });
}

/** A path segment in the address of a `cf_aig` gateway. */
function PlaceSegment(description: string): PropertyDecorator {
  return Text({
    max: 100,
    pattern: PATH_SEGMENT_PATTERN,
    patternText: '1 to 100 letters, digits, ".", "_", "~" or "-", and not only dots',
    description,
  });
}

const STORED_TOKEN = 'The gateway’s token. Stored sealed, never returned.';
const TESTED_TOKEN = 'The token to test. Not stored.';

class CreateCfAigGatewayRequest {
  @OneOf(['cf_aig'], { description: 'Cloudflare AI Gateway. Cannot change later.' })
  type: 'cf_aig';

  @GatewayName()
  name: string;

  @GatewayToken(STORED_TOKEN)
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

  @GatewayToken(STORED_TOKEN)
  token: string;
}

/** A new gateway, in the shape of its type. */
export type CreateGatewayRequest = CreateCfAigGatewayRequest | CreateVercelGatewayRequest;

/** The shape of each type. */
export const CREATE_FORMS = { cf_aig: CreateCfAigGatewayRequest, vercel: CreateVercelGatewayRequest };

class TestCfAigGatewayRequest {
  @OneOf(['cf_aig'], { description: 'Tested by requesting the model list of openai through the gateway.' })
  type: 'cf_aig';

  @GatewayToken(TESTED_TOKEN)
  token: string;

  @PlaceSegment('The gateway’s account at Cloudflare.')
  accountId: string;

  @PlaceSegment('The gateway within that account.')
  gatewayId: string;
}

class TestVercelGatewayRequest {
  @OneOf(['vercel'], { description: 'Tested by the balance of the token’s own account.' })
  type: 'vercel';

  @GatewayToken(TESTED_TOKEN)
  token: string;
}

/** A gateway to test, in the shape of its type. */
export type TestGatewayRequest = TestCfAigGatewayRequest | TestVercelGatewayRequest;

/** The shape of each type. */
export const TEST_FORMS = { cf_aig: TestCfAigGatewayRequest, vercel: TestVercelGatewayRequest };

/** The optional revision check of both writes. */
function ReadRevision(): PropertyDecorator {
  return Int({
    min: 1,
    optional: true,
    description: 'The revision you read. When sent, it must be the stored one.',
  });
}

export class RenameGatewayRequest {
  @GatewayName()
  name: string;

  @ReadRevision()
  revision?: number;
}

export class RotateGatewayRequest {
  @GatewayToken('A new token for the same gateway; it replaces the old one.')
  token: string;

  @ReadRevision()
  revision?: number;
}
