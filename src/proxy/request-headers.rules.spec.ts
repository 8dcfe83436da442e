import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type HeaderRule, upstreamHeaders } from './request-headers.rules.js';

const ALLOWED = [
  'Accept',
  'Accept-Language',
  'Anthropic-Beta',
  'anthropic-dangerous-direct-browser-access',
  'anthropic-version',
  'idempotency-key',
  'OpenAI-Beta',
  'User-Agent',
  'x-goog-api-client',
  'X-Stainless-Lang',
  'x-stainless-retry-count',
];
const DROPPED = [
  'Authorization',
  'Cookie',
  'X-Api-Key',
  'x-goog-api-key',
  'X-Goog-User-Project',
  'X-Goog-FieldMask',
  'X-Goog-Quota-User',
  'X-Goog-Request-Params',
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
  'openai-organization',
  'OpenAI-Project',
  'x-openrouter-metadata',
  'x-end-user-id',
  'x-app-version',
  'X-Forwarded-For',
  'forwarded',
  'origin',
  'referer',
  'host',
  'content-length',
  'content-encoding',
  'accept-encoding',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'proxy-authorization',
  'cf-aig-authorization',
  'x-stainless',
];
const OURS = ['authorization', 'Bearer sk-operator'];
const RULE: HeaderRule = { removed: [], passed: new Set(), injected: OURS };
const FIXED = ['content-type', 'application/json', 'accept-encoding', 'identity'];

/** The forwarded client headers: everything between the two fixed headers and the injected ones. */
function passed(rawHeaders: readonly string[], rule: HeaderRule = RULE): string[] {
  const headers = upstreamHeaders(rawHeaders, rule);
  expect(headers.slice(2, 4)).toEqual(['accept-encoding', 'identity']);
  expect(headers.slice(headers.length - rule.injected.length)).toEqual(rule.injected);
  return headers.slice(4, headers.length - rule.injected.length);
}

describe('request headers to a provider', () => {
  it.each(ALLOWED)('%s → forwarded with its value as sent', (name) => {
    expect(passed([name, ' Välue;q=1 '])).toEqual([name.toLowerCase(), ' Välue;q=1 ']);
  });

  it.each(DROPPED)('%s → not forwarded', (name) => {
    expect(passed([name, 'client'])).toEqual([]);
  });

  it('allowed header sent several times → forwarded as often, in order', () => {
    expect(passed(['anthropic-beta', 'a', 'Accept', 'x', 'Anthropic-Beta', 'b'])).toEqual([
      'anthropic-beta',
      'a',
      'accept',
      'x',
      'anthropic-beta',
      'b',
    ]);
  });

  it('content type → that of the body actually sent, never the client’s', () => {
    const sent = ['Content-Type', 'text/plain', 'content-type', 'x/y'];
    expect(upstreamHeaders(sent, RULE)).toEqual([...FIXED, ...OURS]);
    const form = 'multipart/form-data; boundary=ours';
    expect(upstreamHeaders(sent, { ...RULE, contentType: form }).slice(0, 2)).toEqual(['content-type', form]);
  });

  it('header allowed on this route only → forwarded; injected and removed ones are not', () => {
    const sent = ['CF-AIG-Cache-TTL', '60', 'cf-aig-authorization', 'Bearer client', 'cf-aig-skip-cache', 'true'];
    const way = { ...RULE, removed: ['cf-aig-skip-cache'], passed: new Set(['cf-aig-cache-ttl', 'cf-aig-skip-cache']) };
    expect(passed(sent, way)).toEqual(['cf-aig-cache-ttl', '60']);
  });

  it('length of the body → left to the connection, whatever the client has sent', () => {
    expect(upstreamHeaders(['Content-Length', '12', 'transfer-encoding', 'chunked'], RULE)).toEqual([
      ...FIXED,
      ...OURS,
    ]);
  });

  it('nothing is sent → no content type', () => {
    expect(upstreamHeaders(['Content-Type', 'text/html'], { ...RULE, contentType: null })).toEqual([
      ...FIXED.slice(2),
      ...OURS,
    ]);
  });

  it('allowed header that names a user or carried the credential → removed', () => {
    const removed = ['user-agent', 'x-stainless-user'];
    expect(
      passed(['User-Agent', 'ann', 'X-Stainless-User', 'ann', 'accept', 'x'], { ...RULE, removed, injected: [] }),
    ).toEqual(['accept', 'x']);
  });

  it('header of the gateway → only the gateway’s value, however the client spells or repeats it', () => {
    const injected = ['anthropic-version', '2023-06-01', 'x-api-key', 'sk-operator'];
    const sent = ['Anthropic-Version', '1999-01-01', 'anthropic-version', '2000-01-01', 'X-API-KEY', 'sk-client'];
    expect(upstreamHeaders(sent, { ...RULE, injected })).toEqual([...FIXED, ...injected]);
  });

  it.each([
    [['Connection', 'keep-alive, Anthropic-Beta']],
    [['connection', ' anthropic-beta ,close']],
    [['CONNECTION', 'close', 'connection', 'ANTHROPIC-BETA']],
  ])('RFC 9110, 7.6.1: %j → the listed header is not forwarded either', (connection) => {
    expect(passed(['anthropic-beta', 'x', ...connection, 'accept', 'y'])).toEqual(['accept', 'y']);
  });

  it('connection that lists our headers → they are still sent', () => {
    const sent = ['connection', 'authorization, content-type, accept-encoding'];
    expect(upstreamHeaders(sent, RULE)).toEqual([...FIXED, ...OURS]);
  });

  it('any headers → only allowlisted names of the client’s, each with a value it sent', () => {
    const name = fc.oneof(fc.constantFrom(...ALLOWED, ...DROPPED), fc.stringMatching(/^[A-Za-z-]{1,30}$/));
    const allowed = new Set(ALLOWED.map((one) => one.toLowerCase()));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string())), (pairs) => {
        const out = passed(pairs.flat());
        for (let at = 0; at < out.length; at += 2) {
          const [sent = '', value = ''] = out.slice(at, at + 2);
          expect(allowed.has(sent) || sent.startsWith('x-stainless-')).toBe(true);
          expect(pairs.some(([one, text]) => one.toLowerCase() === sent && text === value)).toBe(true);
        }
      }),
    );
  });
});
