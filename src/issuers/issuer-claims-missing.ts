import { GatewayError } from '../common/errors/gateway-error.js';

/** The refusal `403 issuer_claims_missing`: the token is good, only a required claim has not arrived yet. */
export class IssuerClaimsMissing extends GatewayError {
  /** @param userId whom the verified token names, so that the refusal can be attributed. */
  constructor(readonly userId: string) {
    super('issuer_claims_missing', { reason: 'claims_missing' });
    this.name = 'IssuerClaimsMissing';
  }
}
