import { describe, expect, it } from '@jest/globals';
import { gatewayRoute } from '../../upstreams/routes/gateway-route.js';
import { directRoute } from '../../upstreams/routes/provider-route.js';
import { REQUEST_NAMES } from '../json/checked-members.js';
import { applyEdits } from '../json/json-edit.js';
import { scanJson } from '../json/json-scan.js';
import { gatewayOptionEdits } from './gateway-options.rules.js';

const bases = { cf_aig: 'https://cf.example.com/v1/', vercel: 'https://vercel.example.com/' };
const free = gatewayRoute('openai', { type: 'vercel' }, null, bases);
const pinnedTo = (...providerOnly: string[]) => gatewayRoute('openai', { type: 'vercel' }, { providerOnly }, bases);

function sent(body: string, route = free): string {
  const scan = scanJson(Buffer.from(body), REQUEST_NAMES);
  return applyEdits(scan.bytes, gatewayOptionEdits(scan, route)).toString();
}

describe('options for a translating gateway', () => {
  it.each([
    ['{"a":1.0}', '{"a":1.0,"providerOptions":{"gateway":{"only":["azure"]}}}'],
    ['{"providerOptions":null}', '{"providerOptions":{"gateway":{"only":["azure"]}}}'],
    ['{"providerOptions":"gateway"}', '{"providerOptions":{"gateway":{"only":["azure"]}}}'],
    ['{"providerOptions":{"gateway":null}}', '{"providerOptions":{"gateway":{"only":["azure"]}}}'],
    [
      '{"providerOptions":{"gateway":{"only":["x"],"order":["y"]},"openai":{"store":true}},"a":1}',
      '{"providerOptions":{"gateway":{"only":["azure"],"order":["y"]},"openai":{"store":true}},"a":1}',
    ],
  ])('providers pinned: %s → the operator’s value replaces the client’s, other options are kept', (body, expected) => {
    expect(sent(body, pinnedTo('azure'))).toBe(expected);
  });

  it.each([
    ['{}', '{}'],
    ['{"providerOptions":null}', '{"providerOptions":{}}'],
    ['{"providerOptions":["x"]}', '{"providerOptions":{}}'],
    ['{"providerOptions":{"gateway":{"order":["y"]}}}', '{"providerOptions":{"gateway":{"order":["y"]}}}'],
  ])('nothing pinned: %s → %s', (body, expected) => {
    expect(sent(body)).toBe(expected);
  });

  it('option named twice → sent once, as validated', () => {
    expect(sent('{"providerOptions":{"gateway":{"byok":{},"byok":null}}}')).toBe(
      '{"providerOptions":{"gateway":{"byok":null}}}',
    );
    expect(sent('{"providerOptions":{"gateway":{"only":["x"],"only":["y"]}}}', pinnedTo('z'))).toBe(
      '{"providerOptions":{"gateway":{"only":["z"]}}}',
    );
  });

  it('numbers and spellings of the client → forwarded as written, pinned or not', () => {
    const numbers = '[1.0,1e400,12345678901234567890,-0,1E+2,0.10]';
    const body = `{"providerOptions": { "openai" : {"a":${numbers}, "b":"\\u0041\\/"} } }`;
    expect(sent(body)).toBe(body);
    expect(sent(body, pinnedTo('z'))).toBe(
      `{"providerOptions": { "openai" : {"a":${numbers}, "b":"\\u0041\\/"} ,"gateway":{"only":["z"]}} }`,
    );
  });

  it.each([
    ['gateway', 'models', '["a"]'],
    ['gateway', 'byok', '{}'],
    ['gateway', 'BYOK', '{}'],
    ['gateway', 'user', '"ann"'],
    ['gateway', 'tags', '["a"]'],
    ['openai', 'serviceTier', '"priority"'],
    ['openai', 'service_tier', '"priority"'],
    ['openai', 'previousResponseId', '"resp_1"'],
    ['openai', 'maxCompletionTokens', '99999'],
    ['google', 'cachedContent', '"c"'],
    ['xai', 'searchParameters', '{}'],
    ['xai', 'deferred', 'true'],
    ['anything', 'conversation', '"c"'],
  ])('providerOptions.%s.%s → 400 naming it', (group, name, value) => {
    expect(() => sent(`{"providerOptions":{"${group}":{"${name}":${value}}}}`)).toThrow(
      `providerOptions.${group}.${name}: cannot be used through the gateway`,
    );
  });

  it.each(['{"providerOptions":{"openai":{"user":"ann","tags":[]}}}', '{"providerOptions":{"openai":"x","a":[1]}}'])(
    '%s → accepted',
    (body) => {
      expect(sent(body)).toBe(body);
    },
  );

  it('too long to be read → 400', () => {
    const long = `{"providerOptions":{"gateway":{"a":"${'x'.repeat(64 * 1024)}"}}}`;
    expect(() => sent(long)).toThrow('providerOptions: longer than 65536 bytes');
  });

  it('prototype names → plain data', () => {
    const body = '{"providerOptions":{"__proto__":{"gateway":{"only":["x"]}},"constructor":{"a":1}}}';
    expect(sent(body)).toBe(body);
    expect(sent(body, pinnedTo('z'))).toContain('"gateway":{"only":["z"]}');
  });

  it('any other route → unchanged', () => {
    const body = '{"providerOptions":{"gateway":{"byok":{},"byok":{}}}}';
    expect(sent(body, directRoute('openai', null))).toBe(body);
    const cf = gatewayRoute('openai', { type: 'cf_aig', accountId: 'a', gatewayId: 'b' }, null, bases);
    expect(sent(body, cf)).toBe(body);
  });
});
