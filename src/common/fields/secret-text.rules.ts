import { invalidRequest } from '../errors/gateway-error.js';
import { Secret } from '../log/secret.js';

/** Valid in a header value: printable ASCII, blanks only inside. */
const SENDABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** A shorter credential is easy to guess, and any hint would reveal much of it. */
export const MIN_SECRET_CHARACTERS = 8;
/** No provider has keys as long as this. */
export const MAX_SECRET_CHARACTERS = 4096;
/** From this length on a credential has the longer hint. */
const LONG_CHARACTERS = 16;
const HINT_LENGTH = 4;
const SHORT_HINT_LENGTH = 2;

/**
 * Parses a credential for a third party and keeps it unchanged.
 *
 * @param member the body member that holds it.
 * @throws invalid_request at that member for characters that a header cannot carry, such as a pasted line end, and for
 * fewer than 8 or more than 4 096 characters.
 */
export function parseSecretText(member: string, raw: string): Secret {
  if (!SENDABLE.test(raw)) throw invalidRequest(member, 'must be printable ASCII without surrounding blanks');
  if (raw.length < MIN_SECRET_CHARACTERS) {
    throw invalidRequest(member, `must have at least ${MIN_SECRET_CHARACTERS} characters`);
  }
  if (raw.length > MAX_SECRET_CHARACTERS) {
    throw invalidRequest(member, `must have at most ${MAX_SECRET_CHARACTERS} characters`);
  }
  return new Secret(raw);
}

/** The last characters of a credential, which identify it in lists; a longer credential has a longer hint. */
export function secretHintOf(secret: Secret): string {
  const characters = [...secret.reveal()];
  return characters.slice(characters.length - hintLengthOf(characters.length)).join('');
}

/**
 * A stored hint as shown to clients: earlier versions stored longer ones, up to an entire short credential.
 *
 * @param length of the credential in bytes; `undefined` when unknown: the hint is then shown as stored.
 */
export function shownHint(stored: string, length: number | undefined): string {
  if (length === undefined) return stored;
  const characters = [...stored];
  return characters.slice(Math.max(0, characters.length - hintLengthOf(length))).join('');
}

/** 0 for a credential that is too short to be stored today. */
function hintLengthOf(length: number): number {
  if (length >= LONG_CHARACTERS) return HINT_LENGTH;
  return length >= MIN_SECRET_CHARACTERS ? SHORT_HINT_LENGTH : 0;
}
