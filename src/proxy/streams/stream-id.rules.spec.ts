import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { StreamKeys } from './stream-id.rules.js';

const keys = new StreamKeys('a secret of at least thirty-two bytes');
const owner = keys.ownerMark({ appId: 'app', userId: 'ada' });
const claims = { owner, instance: keys.mark('instance', 'i1'), issuedAtS: 1_764_400_000, resumeSeconds: 600 };
const sealed = () => keys.seal(claims, randomBytes(12));

describe('ids of streams', () => {
  it('sealed → opened; an id without its secret', () => {
    const id = sealed();
    expect(keys.open(id)).toEqual(claims);
    expect(id).toMatch(/^st_[A-Za-z0-9_-]{80,100}$/);
    expect(sealed()).not.toBe(id);
    expect(new StreamKeys('another secret of thirty-two bytes').open(id)).toBeUndefined();
  });

  it('any other text → undefined', () => {
    const id = sealed();
    for (let at = 0; at < id.length; at++) {
      for (const other of ['A', 'B', '-', '=', '/', ' ']) {
        if (other !== id[at]) expect(keys.open(id.slice(0, at) + other + id.slice(at + 1))).toBeUndefined();
      }
      expect(keys.open(id.slice(0, at))).toBeUndefined();
    }
    for (const text of ['', 'st_', `${id}A`, `x${id}`, id.toUpperCase()]) expect(keys.open(text)).toBeUndefined();
  });

  it('callers → kept apart, even a user with an empty name from no user, and names that concatenate to the same text', () => {
    const marks = [
      { appId: 'app', userId: null },
      { appId: 'app', userId: '' },
      { appId: 'app', userId: 'a' },
      { appId: 'appa', userId: '' },
      { appId: 'app2', userId: null },
    ].map((one) => keys.ownerMark(one));
    expect(new Set(marks).size).toBe(marks.length);
    expect(keys.mark('a', 'bc', 'd')).not.toBe(keys.mark('a', 'b', 'cd'));
    expect(keys.mark('a', 'b')).not.toBe(keys.mark('a', 'b', ''));
  });

  it('keys of streams → one per id', () => {
    const [id, other] = [sealed(), sealed()];
    expect(keys.keyOf(id).equals(keys.keyOf(id))).toBe(true);
    expect(keys.keyOf(id).equals(keys.keyOf(other))).toBe(false);
  });
});
