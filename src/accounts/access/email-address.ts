import { Text } from '../../common/fields/fields.js';

/** Source: RFC 5321, 4.5.3.1.3 (a path of 256 octets, two of them brackets). */
const MAX_CHARACTERS = 254;
const EMAIL_FORMAT = /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u;

/** An e-mail address in a body. Only its format is validated, because no mail is sent. */
export function EmailAddress(options: { readonly optional?: boolean; readonly description: string }) {
  return Text({
    max: MAX_CHARACTERS,
    pattern: EMAIL_FORMAT,
    patternText: `an e-mail address of at most ${MAX_CHARACTERS} characters`,
    ...options,
  });
}

/** Whether a text has the format of an e-mail address. */
export function isEmailAddress(text: string): boolean {
  return text.length <= MAX_CHARACTERS && EMAIL_FORMAT.test(text);
}

/**
 * The canonical form in which e-mail addresses are compared.
 *
 * Source: docs/reference/management-api.md#passwords-and-third-parties.
 */
export function comparableEmail(email: string): string {
  return email.trim().toLowerCase();
}
