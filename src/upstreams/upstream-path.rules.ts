/** Outside printable ASCII, a backslash, the start of a query or fragment, a leading or doubled slash. */
const FORBIDDEN_CHARACTERS = /[^\x21-\x7e]|[\\?#]|^\/|\/\//;

/** Escapes of a slash, a backslash, a control character, or of the escape sign itself (double encoding). */
const FORBIDDEN_ESCAPES = /%(?:2f|5c|25|[01][0-9a-f]|7f)/i;

/** `.` or `..` as a segment, dots in either spelling; some servers ignore what follows a semicolon. */
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:(?:;|%3b)[^/]*)?(?:\/|$)/i;

/**
 * True when a path, appended to a base URL, can only mean a place below it, for every server and proxy on the way.
 * It judges the bytes that will be sent and changes nothing.
 *
 * @param path still percent-encoded, no leading slash, no query.
 * Source: contract-app 6.1; threats 3.2.
 */
export function isSafeUpstreamPath(path: string): boolean {
  return path !== '' && !FORBIDDEN_CHARACTERS.test(path) && !FORBIDDEN_ESCAPES.test(path) && !DOT_SEGMENT.test(path);
}

const CREDENTIAL_PARAMETERS: ReadonlySet<string> = new Set(['key', 'api_key']);

/**
 * A query without the parameters that providers read a key from, in whatever escapes the name is written. The rest
 * keeps its bytes and its order.
 *
 * @param rawQuery what follows the `?`, still percent-encoded; may be empty.
 * Source: contract-app 6.1.
 */
export function cleanQuery(rawQuery: string): string {
  if (rawQuery === '') return rawQuery;
  return rawQuery
    .split('&')
    .filter((parameter) => !CREDENTIAL_PARAMETERS.has(decodedName(parameter)))
    .join('&');
}

const ESCAPED_BYTE = /%([0-9a-f]{2})/gi;

/** Escapes are undone one byte at a time: one broken escape elsewhere in the name must not hide the others. */
function decodedName(parameter: string): string {
  const equals = parameter.indexOf('=');
  const name = equals === -1 ? parameter : parameter.slice(0, equals);
  if (!name.includes('%')) return name;
  return name.replace(ESCAPED_BYTE, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
