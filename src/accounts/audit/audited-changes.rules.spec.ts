import { describe, expect, it } from '@jest/globals';
import { auditedChanges } from './audited-changes.rules.js';

const SHOWN = ['name', 'limits.**', 'rewrites.*', 'endpoints.*.model', 'endpoints.*.fallback.*.model', 'user.source'];
const SECRET = 'sk-live-7h1s-1s-s3cr3t';

const changesOf = (before: object, after: object) => auditedChanges(before, after, SHOWN);

describe('auditedChanges', () => {
  it.each([
    ['a number', { limits: { day: 5 } }, { limits: { day: 7 } }, 'limits.day', 5, 7],
    ['a deep number', { limits: { a: { b: { c: 0 } } } }, { limits: { a: { b: { c: 1 } } } }, 'limits.a.b.c', 0, 1],
    ['null to a number', { limits: { day: null } }, { limits: { day: 7 } }, 'limits.day', null, 7],
    ['absent to a number', {}, { limits: { day: 7 } }, 'limits.day', null, 7],
    ['a number to absent', { limits: { day: 7 } }, { limits: {} }, 'limits.day', 7, null],
    ['false to true', { limits: { hard: false } }, { limits: { hard: true } }, 'limits.hard', false, true],
    ['a list', { limits: { of: ['a'] } }, { limits: { of: ['a', 'b'] } }, 'limits.of', ['a'], ['a', 'b']],
    ['text', { name: 'A' }, { name: 'B' }, 'name', 'A', 'B'],
    [
      'a dotted name',
      { rewrites: { 'gpt-4.1': 'a' } },
      { rewrites: { 'gpt-4.1': 'b' } },
      'rewrites["gpt-4.1"]',
      'a',
      'b',
    ],
    [
      'an endpoint',
      { endpoints: { sum: { model: 'a' } } },
      { endpoints: { sum: { model: 'b' } } },
      'endpoints.sum.model',
      'a',
      'b',
    ],
    [
      'a target',
      { endpoints: { sum: { fallback: [{ model: 'a' }] } } },
      { endpoints: { sum: { fallback: [{ model: 'b' }] } } },
      ...(['endpoints.sum.fallback.0.model', 'a', 'b'] as const),
    ],
  ])('%s → its path, old and new value', (_what, before, after, path, from, to) => {
    expect(changesOf(before, after)).toEqual([{ path, from, to, redacted: false }]);
  });

  it.each([
    ['equal', { limits: { day: 5 }, user: { token: SECRET } }, { limits: { day: 5 }, user: { token: SECRET } }],
    ['absent and null', { limits: {} }, { limits: { day: null } }],
    ['another order of members', { limits: { a: 1, b: 2 } }, { limits: { b: 2, a: 1 } }],
    ['an empty object', {}, { limits: {} }],
  ])('%s → no change', (_what, before, after) => {
    expect(changesOf(before, after)).toEqual([]);
  });

  it.each([
    ['a member that nobody listed', { token: SECRET }, 'token'],
    ['one beside a listed member', { user: { token: SECRET } }, 'user.token'],
    ['names and values below it', { user: { token: { [SECRET]: SECRET, other: [SECRET] } } }, 'user.token'],
    [
      'one beside a listed member of a map',
      { endpoints: { sum: { params: { [SECRET]: SECRET } } } },
      'endpoints.sum.params',
    ],
    ['a list of objects', { endpoints: { sum: { params: [{ text: SECRET }] } } }, 'endpoints.sum.params'],
    ['below a listed plain member', { name: { [SECRET]: SECRET } }, 'name'],
    ['above a listed member', { endpoints: SECRET }, 'endpoints'],
    ['above a member of a map', { endpoints: { sum: SECRET } }, 'endpoints.sum'],
  ])('%s → named, without a value', (_what, after, path) => {
    const changes = changesOf({}, after);
    expect(changes).toEqual([{ path, from: null, to: null, redacted: true }]);
    expect(JSON.stringify(changes)).not.toContain(SECRET);
  });

  it('both kinds → those with values first, each by path', () => {
    const after = { aside: 1, limits: { minute: 1, day: 2 }, name: 'B', zest: 1 };
    const paths = changesOf({}, after).map(({ path }) => path);
    expect(paths).toEqual(['limits.day', 'limits.minute', 'name', 'aside', 'zest']);
  });

  it('long texts and lists → truncated, and still a change', () => {
    const [name] = changesOf({ name: 'a'.repeat(600) }, { name: `${'a'.repeat(600)}b` });
    expect([name?.from, name?.to]).toEqual([`${'a'.repeat(500)}…`, `${'a'.repeat(500)}…`]);
    const list = Array.from({ length: 60 }, (_, at) => at);
    const [limits] = changesOf({}, { limits: { of: list } });
    expect(limits?.to).toEqual([...list.slice(0, 50), '… 10 more']);
  });
});
