import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseTrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import { AddressRedaction } from './address-redaction.js';
import { clientHeaders as headersFor, singleHeader, type UpstreamHeaders } from './response-headers.rules.js';

const TOLD = new AddressRedaction(['https://api.provider.example/v1/'], parseTrustedHosts(''));
const clientHeaders = (upstream: UpstreamHeaders) => headersFor(upstream, TOLD);

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
    expect(clientHeaders({ [name]: 'x' })).toEqual([]);
    expect(clientHeaders({ [name]: ['x', 'y'], 'x-kept': '1' })).toEqual(['x-kept', '1']);
  });

  it.each([
    ['x-request-id', 'req_1'],
    ['retry-after', '7'],
    ['content-type', 'text/event-stream; charset=utf-8'],
    ['location', 'https://elsewhere.example/'],
    ['x-ratelimit-remaining-tokens', '0'],
    ['date', 'Tue, 03 Feb 2026 04:05:06 GMT'],
    ['x-text', ' Ã¼ \t'],
    ['x-empty', ''],
  ])('%s → relayed as it is', (name, value) => {
    expect(clientHeaders({ [name]: value })).toEqual([name, value]);
  });

  it('header sent several times → as often, in order', () => {
    expect(clientHeaders({ link: ['a', 'b'], via: '1' })).toEqual(['link', 'a', 'link', 'b', 'via', '1']);
  });

  it.each([['x-trace, keep-alive'], ['close,X-Trace'], [['keep-alive', ' x-trace ']]])(
    'connection %j → the listed header ends here too',
    (connection) => {
      expect(clientHeaders({ 'x-trace': 'internal', connection, 'x-kept': '1' })).toEqual(['x-kept', '1']);
    },
  );

  it.each(['keep-alive', 'close', 'Keep-Alive'])('connection %s → nothing else is lost', (connection) => {
    expect(clientHeaders({ connection, 'x-kept': '1' })).toEqual(['x-kept', '1']);
  });

  it('any headers → exactly those that are not dropped', () => {
    const name = fc.oneof(fc.constantFrom(...DROPPED), fc.stringMatching(/^x-[a-z]{1,10}$/));
    // Without the signs of an address: a private one would end here.
    const text = fc.string().map((any) => any.replaceAll(/[.:]/g, ''));
    const value = fc.oneof(text, fc.array(text, { maxLength: 3 }));
    fc.assert(
      fc.property(fc.dictionary(name, value), (upstream) => {
        const { connection: _hop, ...rest } = upstream;
        const expected = Object.entries(rest)
          .filter(([one]) => !DROPPED.includes(one))
          .flatMap(([one, values]) => [values].flat().flatMap((each) => [one, each]));
        expect(clientHeaders(rest)).toEqual(expected);
      }),
    );
  });
});

describe('a header that should stand once', () => {
  it.each([
    [undefined, undefined],
    ['gzip', 'gzip'],
    [['text/plain', 'text/event-stream'], 'text/event-stream'],
    [[], undefined],
  ])('%j → %s', (value, expected) => {
    expect(singleHeader({ 'content-type': value }, 'content-type')).toBe(expected);
  });
});
