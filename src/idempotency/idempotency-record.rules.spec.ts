import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { instantOf } from '../common/clock.js';
import { Secret } from '../common/log/secret.js';
import type { CreationKind, IdempotencyRecord } from './creation.js';
import { canonicalJson, recordClaim, recordStanding } from './idempotency-record.rules.js';

const WHO = { organizationId: 'org', identityId: 'user', credentialId: 'mkey' };
const REQUEST = { kind: 'app' as CreationKind, method: 'POST', path: '/v1/admin/apps', body: { name: 'One' } };
const pair = (key = 'key', proof = 'proof') => ({ key, proof: new Secret(proof) });
const claim = (who = WHO, sent = pair(), request = REQUEST) => recordClaim(who, sent, request);

describe('the record that a request identifies', () => {
  it('account, identity, kind or key differ: another record', () => {
    const others = [
      claim(),
      claim({ ...WHO, organizationId: 'other' }),
      claim({ ...WHO, identityId: 'other' }),
      claim(WHO, pair(), { ...REQUEST, kind: 'provider' }),
      claim(WHO, pair('other')),
    ];
    expect(new Set(others.map(({ id }) => id)).size).toBe(others.length);
  });

  it('the same texts, split elsewhere: another record', () => {
    const one = claim({ ...WHO, organizationId: 'a', identityId: 'bc' });
    expect(claim({ ...WHO, organizationId: 'ab', identityId: 'c' }).id).not.toBe(one.id);
    expect(claim({ ...WHO, organizationId: 'a","b', identityId: 'c' }).id).not.toBe(
      claim({ ...WHO, organizationId: 'a', identityId: 'b","c' }).id,
    );
  });

  it('another credential, proof or body: the same record', () => {
    const same = [
      claim({ ...WHO, credentialId: 'other' }),
      claim(WHO, pair('key', 'other')),
      claim(WHO, pair(), { ...REQUEST, body: { name: 'Two' } }),
    ];
    expect(new Set([claim(), ...same].map(({ id }) => id)).size).toBe(1);
  });
});

describe('digest of a request', () => {
  it.each([
    ['method', { ...REQUEST, method: 'PUT' }],
    ['path', { ...REQUEST, path: '/v1/admin/apps/a' }],
    ['body', { ...REQUEST, body: { name: 'one' } }],
  ])('another %s: another digest', (_what, request) => {
    expect(claim(WHO, pair(), request).requestHash).not.toBe(claim().requestHash);
  });

  it('members in another order: the same digest', () => {
    const digest = (body: object) => recordClaim(WHO, pair(), { ...REQUEST, body }).requestHash;
    expect(digest({ a: 1, b: { c: [1, 2], d: null } })).toBe(digest({ b: { d: null, c: [1, 2] }, a: 1 }));
    expect(digest({ a: [1, 2] })).not.toBe(digest({ a: [2, 1] }));
  });

  it('a number that no double can hold: neither null nor its negative', () => {
    const digests = ['1e999', '-1e999', 'null'].map(
      (text) => claim(WHO, pair(), { ...REQUEST, body: { name: JSON.parse(text) } }).requestHash,
    );
    expect(new Set(digests).size).toBe(3);
  });

  it('another proof: another digest, so that bodies cannot be tested against it', () => {
    expect(claim(WHO, pair('key', 'other')).requestHash).not.toBe(claim().requestHash);
  });
});

describe('canonicalJson', () => {
  it('any value: the same value again, and the same text for its members in any order', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(text);
      }),
    );
  });

  it('members named like inherited ones: kept', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}');
  });
});

describe('the outcome of a record for a request, in order', () => {
  const NOW_MS = 1_000_000;
  const { proofHash, requestHash } = claim();
  const withKey: IdempotencyRecord = {
    ...{ proofHash, requestHash, answer: null, sealedAnswer: 'sealed', sealedUntil: instantOf(NOW_MS + 1) },
    ids: { appId: 'app', keyId: 'key' },
  };
  const active = { isKeyActive: true, nowMs: NOW_MS };
  const revoked = { isKeyActive: false, nowMs: NOW_MS };
  const over = { ...withKey, sealedUntil: instantOf(NOW_MS) };

  it('everything is wrong: the proof decides', () => {
    const stranger = claim(WHO, pair('key', 'other'), { ...REQUEST, body: { name: 'Two' } });
    expect(recordStanding(over, stranger, revoked)).toBe('wrong_proof');
  });

  it('a different request, the key revoked, the record expired: the request decides', () => {
    const changed = claim(WHO, pair(), { ...REQUEST, body: { name: 'Two' } });
    expect(recordStanding(over, changed, revoked)).toBe('changed_request');
  });

  it('the key revoked, the record expired: the key decides', () => {
    expect(recordStanding(over, claim(), revoked)).toBe('key_unavailable');
    expect(recordStanding(withKey, claim(), revoked)).toBe('key_unavailable');
  });

  it('the record expired, or its answer cleared: expired', () => {
    expect(recordStanding(over, claim(), active)).toBe('answer_expired');
    expect(recordStanding({ ...withKey, sealedAnswer: null }, claim(), active)).toBe('answer_expired');
  });

  it.each([
    [15 * 60_000 + 60_000, 'sealed_answer'],
    [15 * 60_000 + 60_001, 'answer_expired'],
    [31_536_000_000, 'answer_expired'],
  ])('ADR 0014: valid for %d ms more by a clock that was ahead: %s', (leftMs, standing) => {
    const ahead = { ...withKey, sealedUntil: instantOf(NOW_MS + leftMs) };
    expect(recordStanding(ahead, claim(), active)).toBe(standing);
  });

  it('a millisecond before it expires: the sealed answer', () => {
    expect(recordStanding(withKey, claim(), active)).toBe('sealed_answer');
  });

  it('no key was created: the original answer until the record expires', () => {
    const plain: IdempotencyRecord = {
      ...withKey,
      ids: { providerId: 'p' },
      answer: '{}',
      sealedAnswer: null,
      sealedUntil: null,
    };
    expect(recordStanding(plain, claim(), { isKeyActive: false, nowMs: Number.MAX_SAFE_INTEGER })).toBe('plain_answer');
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
