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

/** A head of these names and values, also of such that the connection would refuse. */
function headOf(headers: HeaderList, status = '200 OK'): ResponseHead {
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? `${name}: ${headers[at + 1]}` : []));
  const text = [`HTTP/1.1 ${status}`, ...lines].join('\r\n');
  return { ...parseResponseHead(`HTTP/1.1 ${status}`, 'POST'), headers, text };
}

const DROPPED = [
  'alt-svc',
  'azure-asyncoperation',
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'nel',
  'openai-organization',
  'openai-project',
  'operation-location',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-connection',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'server-timing',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-envoy-upstream-service-time',
  'x-goog-upload-control-url',
  'x-goog-upload-url',
];

describe('response headers to the client', () => {
  it.each(DROPPED)('%s → ends here, once or several times', (name) => {
    expect(clientHeaders(name, 'x')).toEqual([]);
    expect(clientHeaders(name, 'x', 'x-kept', '1', name, 'y')).toEqual(['x-kept', '1']);
  });

  it.each([
    ['x-request-id', 'req_1'],
    ['retry-after', '7'],
    ['content-type', 'text/event-stream; charset=utf-8'],
    ['location', 'https://elsewhere.example/'],
    ['x-ratelimit-remaining-tokens', '0'],
    ['date', 'Tue, 03 Feb 2026 04:05:06 GMT'],
    ['x-text', 'Ã¼ \t b'],
    ['x-empty', ''],
  ])('%s → relayed as it is', (name, value) => {
    expect(clientHeaders(name, value)).toEqual([name, value]);
  });

  it('header sent several times → as often, in order', () => {
    const sent = ['link', 'a', 'via', '1', 'link', 'b', 'link', 'a'];
    expect(clientHeaders(...sent)).toEqual(sent);
  });

  it.each([[['x-trace, keep-alive']], [['close,X-Trace']], [['keep-alive', ' x-trace ']], [['X-Trace', 'x-other']]])(
    'connection %j → the listed header ends here too, also before the list',
    (values) => {
      const connection = values.flatMap((value) => ['connection', value]);
      expect(clientHeaders('x-trace', 'a', ...connection, 'x-trace', 'b', 'x-kept', '1')).toEqual(['x-kept', '1']);
    },
  );

  it.each(['keep-alive', 'close', 'Keep-Alive'])('connection %s → nothing else is lost', (connection) => {
    expect(clientHeaders('connection', connection, 'x-kept', '1')).toEqual(['x-kept', '1']);
  });

  it('private address in one header → that one ends here, the others do not', () => {
    expect(clientHeaders('x-one', 'a', 'x-two', '10.0.0.7:8080', 'location', '/v1/x', 'x-three', '8.8.8.8')).toEqual([
      ...['x-one', 'a', 'x-three', '8.8.8.8'],
    ]);
  });

  it('references to the provider itself → end here, although no value shows an address', () => {
    expect(clientHeaders('location', '/v1/x', 'link', '</v1/y>', 'x-kept', '1')).toEqual(['x-kept', '1']);
  });

  it('any headers → exactly those that are not dropped', () => {
    const name = fc.oneof(fc.constantFrom(...DROPPED), fc.stringMatching(/^x-[a-z]{1,10}$/));
    // Without the signs of an address: a private one would end here.
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
  const TIMING = ['server-timing', changes.timings.header()];

  it('status, status text and headers of the provider, and the times', () => {
    expect(answerHead(headOf(['x-a', '1', 'content-length', '12'], '404 Nicht gefunden \xfc'), changes)).toEqual({
      status: 404,
      statusText: 'Nicht gefunden \xfc',
      headers: ['x-a', '1', ...TIMING],
      bodyBytes: 12,
    });
  });

  it('secret in a header or in the status text → masked there; the rest is as it was', () => {
    const sent = ['x-a', '1', 'x-echo', `key ${SECRET}!`, 'x-b', '2'];
    const masked = '*'.repeat(SECRET.length);
    expect(answerHead(headOf(sent, `401 No ${SECRET}`), changes)).toMatchObject({
      statusText: `No ${masked}`,
      headers: ['x-a', '1', 'x-echo', `key ${masked}!`, 'x-b', '2', ...TIMING],
    });
    expect(answerHead(headOf(['x-echo', SECRET]), changes).headers).toEqual(['x-echo', masked, ...TIMING]);
    expect(answerHead(headOf([], `401 ${SECRET}`), changes).statusText).toBe(masked);
  });

  it('no secrets → nothing is masked', () => {
    const { headers } = answerHead(headOf(['x-echo', SECRET]), { ...changes, secrets: new SecretPatterns([]) });
    expect(headers).toEqual(['x-echo', SECRET, ...TIMING]);
  });

  it.each([
    ['no length', [], true],
    ['body that the gateway changes', ['content-length', '12'], false],
  ])('%s → none for the client', (_name, sent, isWhole) => {
    expect(answerHead(headOf(sent), { ...changes, isWhole }).bodyBytes).toBeUndefined();
  });
});
