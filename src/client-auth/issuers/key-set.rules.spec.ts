import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { exportJWK, generateKeyPair } from 'jose';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { ISSUER_ALGORITHMS, type IssuerAlgorithm } from './issuer-token.rules.js';
import { allowsAlgorithm, IssuerKey, parseKeySet, verifyingJwk } from './key-set.rules.js';

/** Long runs configure more. */
const FUZZ_RUNS = fuzzRuns(2_000);

const read = (document: unknown) => parseKeySet(Buffer.from(JSON.stringify(document)));
const EC = { kty: 'EC', crv: 'P-256', x: 'eA', y: 'eQ' };

/** The key of a set with one key. */
function keyOf(jwk: Record<string, unknown>) {
  const [key] = read({ keys: [{ ...jwk, kid: 'k' }] }) ?? [];
  if (key === undefined) throw new Error('not read');
  return key;
}

describe('key sets', () => {
  it.each(['', 'null', '[]', '{}', '{"keys":{}}', '{"keys":null}', '{"keys":"x"}', '<html>', '{"keys":[]'])(
    '%s: not JSON or no keys array → jwks_invalid',
    (text) => expect(parseKeySet(Buffer.from(text))).toBeUndefined(),
  );

  it('not UTF-8 → jwks_invalid', () => {
    expect(parseKeySet(Buffer.from('{"keys":[],"a":"\xff"}', 'latin1'))).toBeUndefined();
  });

  it('empty list → no keys', () => expect(read({ keys: [] })).toEqual([]));

  it('entries without a kid → left out, the others are read', () => {
    const named = { ...EC, kid: 'good' };
    const keys = read({ keys: [null, 1, 'x', [], {}, EC, { ...EC, kid: '' }, { ...EC, kid: 7 }, named] });
    expect(keys).toEqual([{ kid: 'good', alg: undefined, mayVerify: true, members: EC }]);
  });

  it('members that play no part in verification, however many and deep → dropped', () => {
    const ballast = Array.from({ length: 1_000 }, () => ({}));
    const [key] = read({ keys: [{ ...EC, kid: 'k', n: ballast, alg: ballast, key_ops: ballast, x5c: ballast }] }) ?? [];
    expect(key).toEqual({ kid: 'k', alg: null, mayVerify: false, members: EC });
  });

  it('more than 200 keys → the first 200', () => {
    const keys = Array.from({ length: 250 }, (_key, index) => ({ ...EC, kid: `k${index}` }));
    expect(read({ keys })).toHaveLength(200);
  });

  it('alg of a key → only that algorithm, or any if the key names none', () => {
    expect(allowsAlgorithm(keyOf({}), 'RS256')).toBe(true);
    expect(allowsAlgorithm(keyOf({ alg: 'RS256' }), 'RS256')).toBe(true);
    expect(allowsAlgorithm(keyOf({ alg: 'RS256' }), 'PS256')).toBe(false);
    expect(allowsAlgorithm(keyOf({ alg: null }), 'RS256')).toBe(false);
  });

  it.each([{}, { use: 'sig' }, { key_ops: ['verify'] }, { key_ops: ['sign', 'verify'] }, { ext: true, x5c: ['x'] }])(
    'key with %j → usable, by its own members only',
    (extra) => expect(verifyingJwk(keyOf({ ...EC, ...extra }), 'ES256')).toEqual({ ...EC, alg: 'ES256' }),
  );

  it.each<Record<string, unknown>>([
    { use: 'enc' },
    { use: null },
    { key_ops: ['sign'] },
    { key_ops: 'verify' },
    { d: 'cHJpdmF0ZQ' },
    { crv: 'P-384' },
    { crv: undefined },
    { kty: 'RSA' },
    { kty: 'oct', k: 'c2VjcmV0' },
    { kty: undefined },
  ])('key with %j → unusable', (extra) => expect(verifyingJwk(keyOf({ ...EC, ...extra }), 'ES256')).toBeUndefined());

  it('symmetric key under any algorithm → never usable', () => {
    for (const alg of Object.keys(ISSUER_ALGORITHMS) as IssuerAlgorithm[]) {
      expect(verifyingJwk(keyOf({ kty: 'oct', k: 'c2VjcmV0', alg }), alg)).toBeUndefined();
    }
  });
});

describe('keys ready to verify', () => {
  const importing = (jwk: Record<string, unknown>, alg: IssuerAlgorithm) => new IssuerKey(keyOf(jwk)).verifying(alg);
  const published = async (alg: string, modulusLength?: number) =>
    ({ ...(await exportJWK((await generateKeyPair(alg, { extractable: true, modulusLength })).publicKey)) }) as Record<
      string,
      unknown
    >;

  it('imported once → the same key object again', async () => {
    const key = new IssuerKey(keyOf(await published('ES256')));
    expect(await key.verifying('ES256')).toBe(await key.verifying('ES256'));
  });

  it('point that is not on the curve, members of another type, no members → unusable', async () => {
    expect(await importing(EC, 'ES256')).toBeUndefined();
    expect(await importing({ ...EC, x: 7 }, 'ES256')).toBeUndefined();
    expect(await importing({ kty: 'EC', crv: 'P-256' }, 'ES256')).toBeUndefined();
    expect(await importing({ kty: 'RSA' }, 'RS256')).toBeUndefined();
  });

  it('RSA with fewer than 2,048 bits, more than 8,192, or a huge exponent → unusable', async () => {
    const n = Buffer.alloc(1_025, 0xff).toString('base64url');
    const good = await published('RS256', 2_048);
    expect(await importing(good, 'RS256')).toBeDefined();
    expect(await importing({ kty: 'RSA', e: 'AQAB', n: Buffer.alloc(128, 0xff).toString('base64url') }, 'RS256')).toBe(
      undefined,
    );
    expect(await importing({ ...good, n }, 'RS256')).toBeUndefined();
    expect(await importing({ ...good, e: Buffer.alloc(9, 0xff).toString('base64url') }, 'RS256')).toBeUndefined();
  });
});

describe('any key set', () => {
  const member = fc.oneof(
    fc.constantFrom('RSA', 'EC', 'OKP', 'oct', 'P-256', 'sig', 'enc', 'RS256', 'AQAB'),
    fc.jsonValue(),
  );
  const jwk = fc.record(
    {
      kid: member,
      kty: member,
      alg: member,
      use: member,
      key_ops: member,
      crv: member,
      n: member,
      e: member,
      x: member,
      y: member,
      k: member,
      d: member,
    },
    { requiredKeys: [] },
  );
  const body = fc.oneof(
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text)),
    fc.array(fc.oneof(jwk, fc.jsonValue())).map((keys) => Buffer.from(JSON.stringify({ keys }))),
  );

  it('→ undefined or named keys; no usable key has a secret member', () => {
    fc.assert(
      fc.property(body, fc.constantFrom(...(Object.keys(ISSUER_ALGORITHMS) as IssuerAlgorithm[])), (bytes, alg) => {
        for (const key of parseKeySet(bytes) ?? []) {
          const usable = verifyingJwk(key, alg);
          expect(key.kid).not.toBe('');
          expect(usable?.kty).not.toBe('oct');
          expect(Object.keys(usable ?? {}).filter((name) => ['d', 'k', 'priv'].includes(name))).toEqual([]);
        }
      }),
      { numRuns: FUZZ_RUNS },
    );
  });
});
