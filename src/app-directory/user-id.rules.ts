import { isStorableText } from '../common/fields/config-values.js';

/** Fits the index on user ids; more than any identity provider needs. */
const MAX_USER_ID_BYTES = 1_024;

/** The message for an invalid user id. */
export const USER_ID_FORM = `must be text of 1 to ${MAX_USER_ID_BYTES} bytes, and not "." or ".."`;

/**
 * Whether a value is a valid user id, from any source: the database can store it and find it again.
 *
 * `.` and `..` are excluded: URL software removes such segments, also percent-encoded ones (WHATWG URL, "double-dot URL
 * path segment"), so a request for that user would reach another resource.
 */
export function isUserId(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > MAX_USER_ID_BYTES) return false;
  return !isDotSegment(value) && isStorableText(value) && Buffer.byteLength(value) <= MAX_USER_ID_BYTES;
}

/** Whether an id is one that a URL segment cannot carry. */
export function isDotSegment(id: string): boolean {
  return id === '.' || id === '..';
}
