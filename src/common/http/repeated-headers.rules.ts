import { invalidRequest } from '../errors/gateway-error.js';

/** Headers whose repetition could make two parsers see different requests. */
const SINGLE: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'content-type',
  'host',
  'idempotency-key',
  'transfer-encoding',
  'x-api-key',
  'x-app-version',
  'x-console-request',
  'x-goog-api-key',
  'x-idempotency-proof',
]);
/** Lengths of these names: a cheap filter that excludes almost every other header. */
const LENGTHS: ReadonlySet<number> = new Set([...SINGLE].map((name) => name.length));

/**
 * Refuses a repeated header that determines the caller or the request.
 *
 * @param rawHeaders flat list of names and values as Node received them.
 * @throws invalid_request naming the header.
 */
export function refuseRepeatedHeaders(rawHeaders: readonly string[]): void {
  let seen: string[] | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] ?? '';
    if (!LENGTHS.has(sent.length)) continue;
    const name = sent.toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen?.includes(name)) throw invalidRequest(name, 'header is sent more than once', 'header_repeated');
    seen ??= [];
    seen.push(name);
  }
}
