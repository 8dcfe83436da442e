import { invalidRequest } from '../errors/gateway-error.js';
import { Secret } from '../log/secret.js';

/** What survives in a header value: printable ASCII, blanks only inside. */
const SENDABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const HINT_LENGTH = 4;
const SHORT_HINT_LENGTH = 2;

/**
 * A credential for somebody else as it was sent, kept exactly so.
 *
 * @param member the body's member that holds it.
 * @throws invalid_request at that member for what no header can carry, such as the line end of a careless paste.
 */
export function parseSecretText(member: string, raw: string): Secret {
  if (!SENDABLE.test(raw)) throw invalidRequest(member, 'must be printable ASCII without surrounding blanks');
  return new Secret(raw);
}

/** The end of a credential, by which people tell credentials apart. Source: contract-admin 1.1, 1.8. */
export function secretHintOf(secret: Secret): string {
  const text = secret.reveal();
  return text.slice(text.length > HINT_LENGTH ? -HINT_LENGTH : -SHORT_HINT_LENGTH);
}
