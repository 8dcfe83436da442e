import { describe, expect, it } from '@jest/globals';
import { addressOf, pageIn } from './path.rules.js';

const ORIGIN = 'https://gateway.example.com';

describe('addressOf', () => {
  it.each(['/v1/admin/apps', '/v1/admin/apps?query=a%20b&limit=2', '/', '/v1/admin/apps/x/users/a%2Fb', '/a/..b/c..'])(
    '%s → that path of the deployment',
    (path) => {
      expect(addressOf(ORIGIN, path).href).toBe(`${ORIGIN}${path}`);
    },
  );

  it.each([
    ...[
      'https://other.example.com/v1/admin/apps',
      `${ORIGIN}/v1/admin/apps`,
      '//other.example.com/v1',
      'v1/admin/apps',
    ],
    ...['/\\other.example.com/', '\\\\other.example.com/', '/\t/other.example.com/', '', '@other.example.com/'],
    ...[
      '/v1/../metrics',
      '/v1/./admin',
      '/..',
      '/.',
      '/v1/%2e%2e/metrics',
      '/v1/.%2E',
      '/v1/%2e%2e%2fmetrics',
      '/a\\..\\b',
    ],
    ...['/v1/a b', '/v1/ä', '/v1/apps#part', '/v1/apps\n', ' /v1/apps', '/v1/apps?', '/v1/apps?q=a b'],
  ])('%j → refused', (path) => {
    expect(() => addressOf(ORIGIN, path)).toThrow(expect.objectContaining({ code: 'invalid_path' }));
  });
});

describe('pageIn', () => {
  it.each([
    ['a cursor', { events: [1], next_before_id: 7 }, 0, ['before_id', '7']],
    ['the last cursor', { events: [1], next_before_id: null }, 0, undefined],
    ['a total that is not reached', { total: 5, users: [1, 2] }, 2, ['offset', '4']],
    ['a total that is reached', { total: 4, users: [1, 2] }, 2, undefined],
    ['an empty page', { total: 4, users: [] }, 2, undefined],
    ['an empty page with a cursor', { events: [], next_before_id: 7 }, 0, undefined],
  ])('%s → the next page', (_name, body, skipped, next) => {
    expect(pageIn(body, skipped)?.next).toEqual(next);
  });

  it.each([null, 'text', [1], {}, { total: 4 }, { one: [], other: [] }])('%j → no page of a list', (body) => {
    expect(pageIn(body, 0)).toBeUndefined();
  });
});
