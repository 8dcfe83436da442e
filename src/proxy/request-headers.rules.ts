/** Request headers forwarded to every provider. All others are dropped, except `x-stainless-*`. */
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

/** Header rules that depend on the application and the provider. */
export interface HeaderRule {
  /** Lower-case names that identify a user or caller and are never forwarded, whatever the allowlist. */
  readonly removed: readonly string[];
  /** Lower-case names that this route forwards in addition to the allowlist. */
  readonly passed: ReadonlySet<string>;
  /** Headers of the gateway: credential and fixed headers, as a flat list. */
  readonly injected: readonly string[];
  /** Content type of the sent body; absent for JSON, null without a body. */
  readonly contentType?: string | null | undefined;
}

/**
 * Builds the headers of the provider call as a flat list: allowlisted headers as sent, and the gateway's headers, which
 * clients cannot add, remove or replace.
 *
 * @param rawHeaders flat list of names and values as Node received them.
 */
export function upstreamHeaders(rawHeaders: readonly string[], rule: HeaderRule): string[] {
  const headers = rule.contentType === null ? [] : ['content-type', rule.contentType ?? JSON_TYPE];
  headers.push('accept-encoding', 'identity');
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

/**
 * Headers that the sender of a request or an answer declared as connection-specific (RFC 9110, 7.6.1), in lower case.
 *
 * @param rawHeaders flat list of names, in any case, and values.
 */
export function connectionTokens(rawHeaders: readonly string[]): Set<string> | undefined {
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
