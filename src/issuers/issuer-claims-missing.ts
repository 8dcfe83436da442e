import { GatewayError } from '../common/errors/gateway-error.js';

/** The refusal `403 issuer_claims_missing`: the token is valid, but a required claim is missing. */
export class IssuerClaimsMissing extends GatewayError {
  /** @param userId the user of the verified token, for the authentication event. */
  constructor(readonly userId: string) {
    super('issuer_claims_missing', { reason: 'claims_missing' });
    this.name = 'IssuerClaimsMissing';
  }
}
