import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { validateQuery } from './query-policy.rules.js';

const refusal = (path: string) =>
  expect.objectContaining({ code: 'invalid_request', status: 400, message: expect.stringMatching(`^${path}: `) });

describe('judgeQuery: what is allowed', () => {
  it.each([
    '',
    'alt=sse',
    'alt=json',
    '$alt=sse',
    'beta=true',
    'api-version=2024-10-21',
    'prettyPrint=false',
    'pageSize=5&pageToken=a%2Fb',
    'include[]=a&include[]=b',
    'a=1&&b==2&',
    '=x',
    'monkey=1&key2=2&x=key',
    'x=%20+y',
    'after=a&limit=20&order=desc',
    'alternative=proto',
    'xylophone=1',
  ])('"%s" → sent unchanged', (query) => {
    expect(validateQuery(query)).toBe(query);
  });

  it.each([
    ['key=1', ''],
    ['key', ''],
    ['alt=sse&key=1&x=%41&api_key=2', 'alt=sse&x=%41'],
    ['%6bey=1&a=1', 'a=1'],
    ['k%65%79=1&%61pi%5Fkey=2&b', 'b'],
    ['$key=1&KEY=2&apiKey=3&api-key=4&a', 'a'],
    ['key=1&key=2', ''],
    ['%EF%BD%8B%EF%BD%85%EF%BD%99=1', ''],
    ['%E2%84%AAey=1', ''],
  ])('keys: "%s" → "%s"', (query, clean) => {
    expect(validateQuery(query)).toBe(clean);
  });
});

describe('judgeQuery: what is refused', () => {
  const NAMES = [
    ...['access_token', 'oauth_token', 'token', 'authorization', 'x-api-key', 'subscription-key'],
    ...['quotaUser', 'userProject', 'project', 'organization', 'group_id', 'workspace'],
    ...['httpHeaders', 'httpMethod', 'method', 'fields', 'field_mask', 'select'],
    ...['callback', 'ct', 'xgafv', 'uploadType', 'upload_protocol', 'req', 'model'],
  ];
  const HEADERS = ['X-HTTP-Method-Override', 'X-Goog-FieldMask', 'X-Goog-Api-Key', 'x-goog-user-project', 'X-Method'];

  it.each(NAMES)('%s → 400 that names it', (name) => {
    expect(() => validateQuery(`a=1&${name}=x`)).toThrow(refusal(`query.${name}`));
  });

  it.each(HEADERS)('the name of the header %s as a parameter → 400', (name) => {
    expect(() => validateQuery(`${name}=x`)).toThrow(refusal('query\\.x[a-z]+'));
  });

  it.each([
    '$fields=a',
    '$.xgafv=1',
    'FIELDS=a',
    'user_project=p',
    'UserProject=p',
    '_method=PUT',
    'fields[]=a',
    'fields[0]=a',
  ])('another spelling, %s → 400', (query) => {
    expect(() => validateQuery(query)).toThrow(refusal('query\\.[a-zA-Z_]+'));
  });

  it.each([
    'alt=proto',
    'alt=media',
    'alt',
    'alt=',
    'alt=SSE',
    'alt=json;enum-encoding=int',
    '$alt=proto',
    'ALT=proto',
  ])('%s → 400: the answer could not be metered', (query) => {
    expect(() => validateQuery(query)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it.each(['alt=sse&alt=json', 'alt=sse&$alt=sse', 'alt=sse&%61lt=sse'])('%s → 400: two formats', (query) => {
    expect(() => validateQuery(query)).toThrow('query.alt: is named twice');
  });

  it.each([
    'a=1;key=2',
    'a#b=1',
    'a b=1',
    'é=1',
    '%zz=1',
    'a=%',
    'a=%2',
    'a=%ff',
    '%c1%ab=1',
    'key%00=1',
    'a%0d%0ab=1',
    'fields%E2%80%8B=1',
    '%256bey=1',
  ])('%s is ambiguous → 400', (query) => {
    expect(() => validateQuery(query)).toThrow(refusal('query'));
  });

  it('any spelling of a validated name → refused or left out, never sent', () => {
    const written = (letter: string, hex: boolean) =>
      hex ? `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}` : letter;
    const spelling = fc
      .tuple(fc.constantFrom(...NAMES, 'key', 'api_key'), fc.array(fc.tuple(fc.boolean(), fc.boolean())), fc.nat(3))
      .map(([name, choices, prefix]) => {
        const letters = [...name].map((letter, at) => {
          const [upper = false, hex = false] = choices[at] ?? [];
          return written(upper ? letter.toUpperCase() : letter, hex);
        });
        return ['', '$', '$.', '%24'][prefix] + letters.join('');
      });
    const harmless = fc.constantFrom('a=1', 'alt=sse', '', 'b');
    fc.assert(
      fc.property(harmless, spelling, fc.constantFrom('', '=', '=v', '=%6b'), (first, name, value) => {
        const query = [first, name + value].join('&');
        try {
          expect(validateQuery(query)).toBe(first);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_request' });
        }
      }),
    );
  });

  it('any query → refused, or built from the given parameters in their order', () => {
    const piece = fc.constantFrom('a', '=', '&', '%61', '%', 'key', 'alt', 'sse', '$', '[', ']', '+', '_', 'fields');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const query = pieces.join('');
        let clean: string;
        try {
          clean = validateQuery(query);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_request' });
          return;
        }
        const rest = query.split('&');
        for (const parameter of clean === '' ? [] : clean.split('&')) {
          const at = rest.indexOf(parameter);
          expect(at).not.toBe(-1);
          rest.splice(0, at + 1);
        }
        const names = [...new URLSearchParams(clean).keys()];
        expect(names.filter((name) => ['key', 'fields'].includes(name))).toEqual([]);
      }),
    );
  });
});
