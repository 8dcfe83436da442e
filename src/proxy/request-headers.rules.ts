/** Request headers that go to every provider. Everything else stays here, but for `x-stainless-*`. */
export const PASSED_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'anthropic-beta',
  'anthropic-dangerous-direct-browser-access',
  'anthropic-version',
  'content-type',
  'idempotency-key',
  'openai-beta',
  'user-agent',
  'x-goog-api-client',
]);
const ALLOWED_PREFIX = 'x-stainless-';
const JSON_TYPE = 'application/json';

/** What of a client's headers depends on the application and the provider. */
export interface HeaderRule {
  /** Names in lower case that identify a person or a caller and never go on, whatever the allowlist says. */
  readonly removed: readonly string[];
  /** Names in lower case that go on beside the allowlisted ones, on this way. */
  readonly passed: ReadonlySet<string>;
  /** What the provider gets of ours: its credential and its fixed headers, as a flat list. */
  readonly injected: readonly string[];
  /** The content type of what is really sent; absent for JSON, null where nothing is. */
  readonly contentType?: string | null | undefined;
  /** Of a body whose length nobody could see otherwise, in bytes. */
  readonly contentLength?: number | undefined;
}

/**
 * The headers of the provider call as a flat list: the allowlisted ones as sent, then ours, which no client can add,
 * remove or replace.
 *
 * @param rawHeaders flat list of names and values as Node received them.
 */
export function upstreamHeaders(rawHeaders: readonly string[], rule: HeaderRule): string[] {
  const headers = rule.contentType === null ? [] : ['content-type', rule.contentType ?? JSON_TYPE];
  headers.push('accept-encoding', 'identity');
  if (rule.contentLength !== undefined) headers.push('content-length', String(rule.contentLength));
  const hopByHop = connectionTokens(rawHeaders);
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!PASSED_HEADERS.has(name) && !name.startsWith(ALLOWED_PREFIX) && !rule.passed.has(name)) continue;
    if (name === 'content-type' || rule.removed.includes(name) || hopByHop?.has(name)) continue;
    if (isInjected(rule.injected, name)) continue;
    headers.push(name, rawHeaders[at + 1] ?? '');
  }
  for (const part of rule.injected) headers.push(part);
  return headers;
}

/** Headers that the client declared to be for this connection only (RFC 9110, 7.6.1). */
function connectionTokens(rawHeaders: readonly string[]): Set<string> | undefined {
  let tokens: Set<string> | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    const value = (rawHeaders[at + 1] ?? '').toLowerCase();
    if (value === 'keep-alive' || value === 'close') continue;
    tokens ??= new Set();
    for (const token of value.split(',')) tokens.add(token.trim());
  }
  return tokens;
}

function isInjected(injected: readonly string[], name: string): boolean {
  for (let at = 0; at < injected.length; at += 2) if (injected[at] === name) return true;
  return false;
}
