import { GatewayError } from '../common/errors/gateway-error.js';

/** The refusal `403 issuer_claims_missing`: the token is valid, but a required claim is missing. */
export class IssuerClaimsMissing extends GatewayError {
  /** @param userId the user of the verified token, for the authentication event. */
  constructor(readonly userId: string) {
    super('issuer_claims_missing', { reason: 'claims_missing' });
    this.name = 'IssuerClaimsMissing';
  }
}

/**
 * Why an issuer token was refused, for logs and authentication events only.
 *
 * Source: docs/reference/application-api.md#identity-tokens.
 */
export type IssuerRejection =
  | 'header_invalid'
  | 'alg_mismatch'
  | 'unknown_kid'
  | 'bad_signature'
  | 'issuer_mismatch'
  | 'audience_mismatch'
  | 'timestamps_invalid'
  | 'expired'
  | 'lifetime_exceeded'
  | 'user_id_missing';

/** The refusal `403 issuer_token_rejected`; the response does not hold the reason. */
export function issuerTokenRejected(reason: IssuerRejection, cause?: unknown): GatewayError {
  return new GatewayError('issuer_token_rejected', { reason, cause });
}
