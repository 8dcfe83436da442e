import type { HeaderPair } from '../dialect-table.js';

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
/** Printable ASCII; blanks inside only. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/;

/** Headers that frame a message, and headers that carry client values: the gateway sets them per call. */
const NOT_FOR_DEFINITIONS: ReadonlySet<string> = new Set([
  ...['connection', 'content-encoding', 'content-length', 'content-type', 'cookie', 'expect', 'host', 'keep-alive'],
  ...['proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['accept', 'accept-encoding', 'accept-language', 'idempotency-key', 'user-agent', 'traceparent', 'tracestate'],
]);

/** Headers that clients send to the gateway: a provider key in one of them would be misread. */
const OURS: ReadonlySet<string> = new Set([
  ...['x-app-version', 'x-client', 'x-console-request', 'x-end-user-id', 'x-idempotency-proof', 'x-request-id'],
]);

/** Returns why a header cannot carry the key of a type, if it cannot. */
export function credentialHeaderProblem(name: string): string | undefined {
  if (!NAME.test(name)) return 'must be a header name of 1 to 64 lower-case letters, digits and dashes';
  const isTaken = NOT_FOR_DEFINITIONS.has(name) || OURS.has(name) || name.startsWith('x-forwarded-');
  return isTaken ? `must not be ${name}, which has a meaning of its own` : undefined;
}

/** Returns the first problem of fixed headers, if any. @param credentialHeader which they must not set. */
export function fixedHeadersProblem(headers: readonly HeaderPair[], credentialHeader: string): string | undefined {
  const names = headers.map(([name]) => name);
  if (new Set(names).size < names.length) return 'must not name a header twice';
  for (const [name, value] of headers) {
    if (!NAME.test(name)) return 'must have names of 1 to 64 lower-case letters, digits and dashes';
    if (name === credentialHeader) return `must not set ${name}, which carries the key`;
    if (NOT_FOR_DEFINITIONS.has(name)) return `must not set ${name}, which the gateway sets`;
    if (!VALUE.test(value)) return `must give ${name} a value of 1 to 256 printable ASCII characters`;
  }
  return undefined;
}
