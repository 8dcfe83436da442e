/** Characters outside printable ASCII, a backslash, the start of a query or fragment, a leading or doubled slash. */
const FORBIDDEN_CHARACTERS = /[^\x21-\x7e]|[\\?#]|^\/|\/\//;

/** Escapes of a slash, a backslash, a control character, or of `%` itself (double encoding). */
const FORBIDDEN_ESCAPES = /%(?:2f|5c|25|[01][0-9a-f]|7f)/i;

/** `.` or `..` as a segment, dots plain or escaped; some servers ignore the text after a semicolon. */
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:(?:;|%3b)[^/]*)?(?:\/|$)/i;

/**
 * Whether a path, appended to a base URL, stays below it for every server and proxy in between. Checks the bytes as
 * sent.
 *
 * @param path percent-encoded, no leading slash, no query.
 * Source: docs/reference/application-api.md#proxy-paths.
 */
export function isSafeUpstreamPath(path: string): boolean {
  return path !== '' && !FORBIDDEN_CHARACTERS.test(path) && !FORBIDDEN_ESCAPES.test(path) && !DOT_SEGMENT.test(path);
}
