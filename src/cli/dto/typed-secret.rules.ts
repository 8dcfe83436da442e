import { invalidRequest } from '../../common/errors/gateway-error.js';
import { parseSecretText } from '../../common/fields/secret-text.rules.js';

/**
 * Validates the key or token that a person typed on an approval page, as the routes of providers and gateways do.
 *
 * @param typed absent where none is requested.
 * @throws invalid_request at `secret`.
 * Source: docs/reference/management-api.md#terminal-approval.
 */
export function requireTypedSecret(typed: string | undefined): void {
  if (typed === undefined) return;
  if (typed.trim() === '') throw invalidRequest('secret', 'must not be blank');
  parseSecretText('secret', typed);
}
