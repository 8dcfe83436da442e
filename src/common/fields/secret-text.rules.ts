import { invalidRequest } from '../errors/gateway-error.js';
import { Secret } from '../log/secret.js';

/** What survives in a header value: printable ASCII, blanks only inside. */
const SENDABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** A shorter credential is guessed sooner than it is stolen, and any hint gives away much of it. */
export const MIN_SECRET_CHARACTERS = 8;
/** From this length on a credential has the longer hint. */
const LONG_CHARACTERS = 16;
const HINT_LENGTH = 4;
const SHORT_HINT_LENGTH = 2;

/**
 * A credential for somebody else as it was sent, kept exactly so.
 *
 * @param member the body's member that holds it.
 * @throws invalid_request at that member for what no header can carry, such as the line end of a careless paste, and for
 * fewer than eight characters.
 */
export function parseSecretText(member: string, raw: string): Secret {
  if (!SENDABLE.test(raw)) throw invalidRequest(member, 'must be printable ASCII without surrounding blanks');
  if (raw.length < MIN_SECRET_CHARACTERS) {
    throw invalidRequest(member, `must have at least ${MIN_SECRET_CHARACTERS} characters`);
  }
  return new Secret(raw);
}

/** The end of a credential, by which people tell credentials apart: the more of it, the longer the credential is. */
export function secretHintOf(secret: Secret): string {
  const characters = [...secret.reveal()];
  return characters.slice(characters.length - hintLengthOf(characters.length)).join('');
}

/**
 * A stored hint as it may be shown: versions before wrote longer ones, for a short credential the whole of it.
 *
 * @param length of the credential in bytes; `undefined` where it cannot be told: then the hint is shown as it is stored.
 */
export function shownHint(stored: string, length: number | undefined): string {
  if (length === undefined) return stored;
  const characters = [...stored];
  return characters.slice(Math.max(0, characters.length - hintLengthOf(length))).join('');
}

/** Nothing of what is too short to be stored today. */
function hintLengthOf(length: number): number {
  if (length >= LONG_CHARACTERS) return HINT_LENGTH;
  return length >= MIN_SECRET_CHARACTERS ? SHORT_HINT_LENGTH : 0;
}
