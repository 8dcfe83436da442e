import { GatewayError } from '../common/errors/gateway-error.js';

/**
 * Why a token of an issuer was not accepted, for logs and auth events only.
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

/** The refusal `403 issuer_token_rejected`; clients are not told why. */
export function issuerTokenRejected(reason: IssuerRejection, cause?: unknown): GatewayError {
  return new GatewayError('issuer_token_rejected', { reason, cause });
}
