import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RequestTimings } from '../../common/http/gateway-request.js';
import { parseTrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import { SecretPatterns } from '../../providers/secret-patterns.js';
import { type HeaderList, parseResponseHead, type ResponseHead } from '../connections/response-head.rules.js';
import { AddressRedaction } from './address-redaction.js';
import { answerHead, clientHeaders as headersFor } from './response-headers.rules.js';

const TOLD = new AddressRedaction(['https://api.provider.example/v1/'], parseTrustedHosts(''));
const clientHeaders = (...headers: string[]) => headersFor(headOf(headers), TOLD);

/** A head of these names and values, including those that the connection would refuse. */
function headOf(headers: HeaderList, status = '200 OK'): ResponseHead {
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? `${name}: ${headers[at + 1]}` : []));
  const text = [`HTTP/1.1 ${status}`, ...lines].join('\r\n');
  return { ...parseResponseHead(`HTTP/1.1 ${status}`, 'POST'), headers, text };
}

/** Headers of the connection, of the host, of the provider's account, of URLs at the provider, and unknown ones. */
const DROPPED = [
  ...[
    'connection',
    'content-encoding',
    'content-length',
    'keep-alive',
    'proxy-authenticate',
    'proxy-authentication-info',
  ],
  ...['proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'server-timing', 'x-accel-buffering'],
  ...['strict-transport-security', 'content-security-policy', 'content-security-policy-report-only', 'clear-site-data'],
  ...['x-frame-options', 'permissions-policy', 'service-worker-allowed', 'cross-origin-opener-policy'],
  ...[
    'cross-origin-embedder-policy',
    'cross-origin-resource-policy',
    'alt-svc',
    'nel',
    'report-to',
    'reporting-endpoints',
  ],
  ...['set-cookie', 'set-cookie2', 'access-control-allow-origin', 'access-control-max-age', 'timing-allow-origin'],
  ...[
    'x-content-type-options',
    'x-xss-protection',
    'referrer-policy',
    'origin-agent-cluster',
    'refresh',
    'server',
    'via',
  ],
  ...['openai-organization', 'openai-project', 'anthropic-organization-id', 'x-account-id', 'cf-aig-log-id'],
  ...['azure-asyncoperation', 'operation-location', 'x-envoy-upstream-service-time', 'x-goog-upload-url'],
  ...['x-goog-upload-control-url', 'sourcemap', 'x-powered-by', 'x-anything', 'x-request-identity', 'x-unlimited'],
];

const RELAYED = [
  ...['content-type', 'content-disposition', 'content-language', 'content-range', 'accept-ranges', 'etag', 'date'],
  ...['cache-control', 'expires', 'age', 'vary', 'last-modified', 'www-authenticate', 'deprecation', 'sunset'],
  ...['x-request-id', 'request-id', 'apim-request-id', 'x-amzn-requestid', 'mistral-correlation-id', 'x-generation-id'],
  ...['x-ratelimit-remaining-tokens', 'ratelimit', 'ratelimit-policy', 'anthropic-ratelimit-requests-reset'],
  ...['x-rate-limit-limit', 'anthropic-priority-input-tokens-remaining', 'retry-after', 'retry-after-ms'],
  ...['x-ms-retry-after-ms', 'x-should-retry', 'openai-processing-ms', 'x-kong-upstream-latency', 'x-inference-time'],
  ...['openai-version', 'cf-ray'],
];

describe('response headers to the client', () => {
  it.each(DROPPED)('%s → not relayed, sent once or several times', (name) => {
    expect(clientHeaders(name, 'x')).toEqual([]);
    expect(clientHeaders(name, 'x', 'etag', '1', name, 'y')).toEqual(['etag', '1']);
  });

  it.each(RELAYED)('%s → relayed', (name) => {
    expect(clientHeaders(name, 'x')).toEqual([name, 'x']);
  });

  it.each([
    ['x-request-id', 'req_1'],
    ['retry-after', '7'],
    ['content-type', 'text/event-stream; charset=utf-8'],
    ['location', 'https://elsewhere.example/'],
    ['x-ratelimit-remaining-tokens', '0'],
    ['date', 'Tue, 03 Feb 2026 04:05:06 GMT'],
    ['etag', 'Ã¼ \t b'],
    ['etag', ''],
  ])('%s → relayed unchanged', (name, value) => {
    expect(clientHeaders(name, value)).toEqual([name, value]);
  });

  it('header sent several times → relayed as often, in order', () => {
    const sent = ['link', '<https://a.example/>', 'age', '1', 'link', '<https://b.example/>', 'warning', 'a'];
    expect(clientHeaders(...sent)).toEqual(sent);
  });

  it.each([[['etag, keep-alive']], [['close,ETag']], [['keep-alive', ' etag ']], [['ETag', 'x-other']]])(
    'connection %j → the listed header is not relayed either, even before the list',
    (values) => {
      const connection = values.flatMap((value) => ['connection', value]);
      expect(clientHeaders('etag', 'a', ...connection, 'etag', 'b', 'age', '1')).toEqual(['age', '1']);
    },
  );

  it.each(['keep-alive', 'close', 'Keep-Alive'])('connection %s → no other header is lost', (connection) => {
    expect(clientHeaders('connection', connection, 'etag', '1')).toEqual(['etag', '1']);
  });

  it('private address in one header → only that one is not relayed', () => {
    expect(clientHeaders('etag', 'a', 'warning', '10.0.0.7:8080', 'location', '/v1/x', 'age', '8.8.8.8')).toEqual([
      ...['etag', 'a', 'age', '8.8.8.8'],
    ]);
  });

  it('references to the provider itself → not relayed, even if no value shows an address', () => {
    expect(clientHeaders('location', '/v1/x', 'link', '</v1/y>', 'etag', '1')).toEqual(['etag', '1']);
  });

  it('any headers → exactly the allowed ones are relayed', () => {
    const name = fc.constantFrom(...DROPPED, ...RELAYED);
    // Without the characters of an address: a private one would not be relayed.
    const text = fc.string().map((any) => any.replaceAll(/[.:]/g, ''));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, text)), (fields) => {
        const sent = fields.filter(([one]) => one !== 'connection');
        expect(clientHeaders(...sent.flat())).toEqual(sent.filter(([one]) => !DROPPED.includes(one)).flat());
      }),
    );
  });
});

describe('the head of the client’s answer', () => {
  const SECRET = 'sk-of-the-operator';
  const changes = {
    secrets: new SecretPatterns([SECRET]),
    isWhole: true,
    timings: new RequestTimings(),
    redaction: TOLD,
  };
  const OURS = ['server-timing', changes.timings.header(), 'x-content-type-options', 'nosniff'];

  it('status, status text and headers of the provider, and the times', () => {
    expect(answerHead(headOf(['etag', '1', 'content-length', '12'], '404 Nicht gefunden \xfc'), changes)).toEqual({
      status: 404,
      statusText: 'Nicht gefunden \xfc',
      headers: ['etag', '1', ...OURS],
      bodyBytes: 12,
    });
  });

  it('secret in a header or in the status text → masked there; the rest is unchanged', () => {
    const sent = ['etag', '1', 'warning', `key ${SECRET}!`, 'age', '2'];
    const masked = '*'.repeat(SECRET.length);
    expect(answerHead(headOf(sent, `401 No ${SECRET}`), changes)).toMatchObject({
      statusText: `No ${masked}`,
      headers: ['etag', '1', 'warning', `key ${masked}!`, 'age', '2', ...OURS],
    });
    expect(answerHead(headOf(['warning', SECRET]), changes).headers).toEqual(['warning', masked, ...OURS]);
    expect(answerHead(headOf([], `401 ${SECRET}`), changes).statusText).toBe(masked);
  });

  it('event stream → reverse proxies do not buffer it', () => {
    const { headers } = answerHead(headOf(['content-type', 'text/event-stream; charset=utf-8']), changes);
    expect(headers).toEqual(['content-type', 'text/event-stream; charset=utf-8', ...OURS, 'x-accel-buffering', 'no']);
  });

  it('no secrets → nothing is masked', () => {
    const { headers } = answerHead(headOf(['warning', SECRET]), { ...changes, secrets: new SecretPatterns([]) });
    expect(headers).toEqual(['warning', SECRET, ...OURS]);
  });

  it.each([
    ['no length', [], true],
    ['body that the gateway changes', ['content-length', '12'], false],
  ])('%s → not sent to the client', (_name, sent, isWhole) => {
    expect(answerHead(headOf(sent), { ...changes, isWhole }).bodyBytes).toBeUndefined();
  });
});
