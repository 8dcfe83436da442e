import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Reason } from '../../common/errors/reasons.js';

/**
 * Refusal of an invalid proof. Use it only for input of the client and never for a failure of the service, because
 * clients discard their key on `attest_failed`.
 *
 * @param reason for the log and the authentication event only.
 * @param cause the parser error for the client's bytes.
 */
export function proofRefused(reason: Reason, cause?: unknown): GatewayError {
  return new GatewayError('attest_failed', { reason, cause });
}
