import { describe, expect, it } from '@jest/globals';
import { firstRenewed, incompatibilityMessage, incompatibleWith, type Neighbour } from './compatibility.rules.js';

const neighbour = (overrides: Partial<Neighbour> = {}): Neighbour => ({
  id: 'other',
  host: 'web-2',
  pid: 41,
  usesRedis: true,
  redisMark: 'one',
  seenAt: '12:00:00',
  ...overrides,
});

describe('instances that cannot serve together', () => {
  it('both with Redis → compatible; one or both without → not', () => {
    const [withIt, without] = [neighbour(), neighbour({ usesRedis: false })];
    expect(incompatibleWith({ usesRedis: true, redisMark: 'one' }, [withIt, without])).toEqual([without]);
    expect(incompatibleWith({ usesRedis: false, redisMark: null }, [withIt, without])).toEqual([withIt, without]);
  });

  it('both with Redis but different markers → not compatible; one marker unknown → compatible until it is known', () => {
    const [same, other, unknown] = ['one', 'two', null].map((redisMark) => neighbour({ redisMark }));
    const all = [same, other, unknown].filter((one) => one !== undefined);
    expect(incompatibleWith({ usesRedis: true, redisMark: 'one' }, all)).toEqual([other]);
    expect(incompatibleWith({ usesRedis: true, redisMark: null }, all)).toEqual([]);
  });

  it('a heartbeat that has changed since first seen → alive; unchanged or seen for the first time → not known', () => {
    const later = neighbour({ seenAt: '12:00:01' });
    expect(firstRenewed([neighbour(), later], new Map([['other', '12:00:00']]))).toBe(later);
    expect(firstRenewed([neighbour()], new Map([['other', '12:00:00']]))).toBeUndefined();
    expect(firstRenewed([later], new Map())).toBeUndefined();
  });

  it('the refusal → who, why, and what to do', () => {
    expect(incompatibilityMessage(neighbour(), false)).toMatch(
      /^REDIS_URL is not set, and process 41 on web-2 .*set REDIS_URL/,
    );
    expect(incompatibilityMessage(neighbour({ usesRedis: false }), true)).toMatch(
      /^REDIS_URL is set, but process 41 on web-2 .* without it.*restart that one with the same REDIS_URL/,
    );
    expect(incompatibilityMessage(neighbour(), true)).toMatch(
      /^REDIS_URL names a different Redis than that of process 41 on web-2.*give all of them the same REDIS_URL/,
    );
  });
});
