import { isStorableText } from '../common/fields/config-reader.js';

/** Room in the index that users are found by; more than any identity provider needs. */
const MAX_USER_ID_BYTES = 1_024;

/** How an id that no user has is told of. */
export const USER_ID_FORM = `must be text of 1 to ${MAX_USER_ID_BYTES} bytes, and not "." or ".."`;

/**
 * True for text that can be the id of a user, from whatever source: what the database stores and finds again.
 *
 * `.` and `..` are nobody's: URL software removes such segments, percent-encoded ones too (WHATWG URL, "double-dot URL
 * path segment"), so that a call about that user would be one about something else.
 */
export function isUserId(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > MAX_USER_ID_BYTES) return false;
  return !isDotSegment(value) && isStorableText(value) && Buffer.byteLength(value) <= MAX_USER_ID_BYTES;
}

/** True for the two ids that a URL cannot carry as a segment. */
export function isDotSegment(id: string): boolean {
  return id === '.' || id === '..';
}
