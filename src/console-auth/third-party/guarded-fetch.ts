import type { CustomFetch } from 'openid-client';
import type { GuardedRequest } from '../../platform/outbound/guarded-request.js';

/** Covers the whole call. */
const TIMEOUT_MS = 5_000;
/** Metadata, key sets and token responses are a few kilobytes. */
const MAX_BYTES = 256 * 1024;
/** Statuses for which `Response` allows no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** A `fetch` through the outbound guard: address check, timeout, size limit, no redirects. */
export function guardedFetch(outbound: GuardedRequest): CustomFetch {
  return async (url, { method, headers, body }) => {
    const bounds = { headers: inLowerCase(headers), timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
    const answer =
      method === 'POST'
        ? await outbound.post(url, { ...bounds, body: String(body ?? '') })
        : await outbound.get(url, bounds);
    const answered = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined) answered.set(name, typeof value === 'string' ? value : value.join(', '));
    }
    const content = BODILESS.has(answer.status) ? null : new Uint8Array(answer.body);
    return new Response(content, { status: answer.status, headers: answered });
  };
}

function inLowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
