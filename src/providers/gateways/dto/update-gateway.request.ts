import { Int } from '../../../common/fields/fields.js';
import { GatewayName, GatewayToken } from './gateway-fields.js';

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
  @GatewayToken('A new token for the same gateway; the old one is gone with it.')
  token: string;

  @ReadRevision()
  revision?: number;
}
