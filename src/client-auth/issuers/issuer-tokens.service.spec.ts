import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { exportJWK, generateKeyPair } from 'jose';
import { type IssuerSimulator, startIssuer } from '../../../test/support/client-auth/issuers/issuer.js';
import { FakeClock } from '../../../test/support/clock.js';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { rejectionOf } from '../../../test/support/rejection-of.js';
import { IssuerConfig } from '../../app-directory/config/issuer-config.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { objectOf } from '../../common/fields/config-fields.js';
import { Log } from '../../common/log/log.js';
import { GuardedRequest } from '../../platform/outbound/guarded-request.js';
import { parseTrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import { IssuerKeySets } from './issuer-key-sets.js';
import { IssuerTokens } from './issuer-tokens.service.js';

/** Long runs configure more. */
const FUZZ_RUNS = fuzzRuns(300);
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA'];

const outbound = new GuardedRequest({ trustedHosts: parseTrustedHosts('127.0.0.1') });
const clock = new FakeClock();
let issuer: IssuerSimulator;
let tokens: IssuerTokens;

beforeAll(async () => {
  issuer = await startIssuer({ clock });
});

/** An empty cache, so that each test controls its key set. */
beforeEach(() => {
  issuer.heal();
  tokens = new IssuerTokens(new IssuerKeySets(outbound, clock, new Log(clock, 'error', () => {})), clock);
});

afterAll(async () => {
  await outbound.close();
  await issuer.stop();
});

function config(overrides: Record<string, unknown> = {}): IssuerConfig {
  return objectOf(IssuerConfig)(issuer.issuerConfig(overrides), 'issuer', { allowsHttp: () => true });
}

async function expectRefusal(token: string, reason: string, overrides: Record<string, unknown> = {}): Promise<void> {
  const refusal = await rejectionOf(tokens.verify(token, config(overrides)));
  expect(refusal).toBeInstanceOf(GatewayError);
  expect(refusal).toMatchObject({ code: 'issuer_token_rejected', status: 403, reason });
  expect(refusal).toHaveProperty('message', 'The identity token was rejected; get a new one.');
}

describe('issuer token verification', () => {
  it.each(ALGORITHMS)('algorithms accepted: %s → the user id', async (alg) => {
    expect(await tokens.verify(await issuer.token({ sub: `user-${alg}` }, { alg }), config())).toEqual({
      userId: `user-${alg}`,
      groups: {},
    });
  });

  it.each(ALGORITHMS)('%s with a key that does not name an algorithm → the user id', async (alg) => {
    const { alg: _alg, use: _use, ...jwk } = issuer.jwk(alg);
    issuer.publish({ keys: [jwk] });
    expect(await tokens.verify(await issuer.token({}, { alg }), config())).toEqual({ userId: 'user-1', groups: {} });
  });

  it('header lacks string kid or alg → header_invalid', async () => {
    await expectRefusal(await issuer.token({}, { header: { kid: undefined } }), 'header_invalid');
    await expectRefusal(await issuer.token({}, { header: { kid: 7 } }), 'header_invalid');
  });

  it('alg that is not accepted: none, in any spelling, and symmetric ones → alg_mismatch, without a fetch', async () => {
    const fetches = issuer.fetches();
    for (const alg of ['none', 'None', 'NONE', 'nOnE'])
      await expectRefusal(issuer.forged.unsigned({}, alg), 'alg_mismatch');
    await expectRefusal(await issuer.forged.hs256WithPublicKey(), 'alg_mismatch');
    expect(issuer.fetches()).toBe(fetches);
  });

  it('JWK whose alg differs from the header → alg_mismatch', async () => {
    issuer.publish({ keys: [{ ...issuer.jwk('RS256'), alg: 'PS256' }] });
    await expectRefusal(await issuer.token({}, { alg: 'RS256' }), 'alg_mismatch');
  });

  it.each<[string, string, () => unknown]>([
    ['key set fetch fails', 'jwks_unreachable', () => issuer.status(503)],
    ['key set is not JSON', 'jwks_invalid', () => issuer.garbage()],
  ])('%s → %s, 503 issuer_verification_unavailable without Retry-After', async (_name, reason, fail) => {
    fail();
    const refusal = await rejectionOf(tokens.verify(await issuer.token(), config()));
    expect(refusal).toMatchObject({ code: 'issuer_verification_unavailable', status: 503, reason });
    expect(refusal).toHaveProperty('retryAfterSeconds', undefined);
  });

  it('no key with that kid → unknown_kid; an empty key set does not yield an empty key', async () => {
    await expectRefusal(await issuer.token({}, { header: { kid: 'nobody' } }), 'unknown_kid');
    issuer.publish({ keys: [] });
    clock.advance(10 * 60_000);
    await expectRefusal(await issuer.token(), 'unknown_kid');
  });

  it('signature wrong → bad_signature; a key or address in the header is ignored', async () => {
    await expectRefusal(await issuer.forged.wrongKey(), 'bad_signature');
    await expectRefusal(await issuer.forged.wrongKey({}, 'RS256'), 'bad_signature');
    await expectRefusal(await issuer.forged.keyInHeader(), 'bad_signature');
    const header = { jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/', jwk: { kty: 'oct', k: 'AA' } };
    expect(await tokens.verify(await issuer.token({}, { header }), config())).toEqual({ userId: 'user-1', groups: {} });
  });

  it('claims replaced under a valid signature → bad_signature', async () => {
    const [header, , signature] = (await issuer.token()).split('.');
    const [, payload] = (await issuer.token({ sub: 'admin' })).split('.');
    await expectRefusal(`${header}.${payload}.${signature}`, 'bad_signature');
    await expectRefusal(`${header}.${payload}.`, 'bad_signature');
  });

  it('unknown critical header → bad_signature', async () => {
    const header = { crit: ['urn:example:critical'], 'urn:example:critical': true };
    await expectRefusal(await issuer.token({}, { header }), 'bad_signature');
  });

  it.each(['not json', '[]', 'null', '"text"'])(
    'signed payload %s is not a JSON object → bad_signature',
    async (payload) => {
      await expectRefusal(await issuer.token({}, { payload }), 'bad_signature');
    },
  );

  it.each<[string, Record<string, unknown>]>([
    ['for encryption', { use: 'enc' }],
    ['of another kind', { kty: 'RSA' }],
    ['with a broken point', { x: 'AA' }],
    ['symmetric', { kty: 'oct', k: 'c2VjcmV0' }],
    ['that publishes its private half', { d: 'AA' }],
  ])('unusable key, %s → bad_signature', async (_name, changes) => {
    issuer.publish({ keys: [{ ...issuer.jwk('ES256'), ...changes }] });
    await expectRefusal(await issuer.token(), 'bad_signature');
  });

  it('RSA key of 1,024 bits → bad_signature', async () => {
    const weak = { ...issuer.jwk('RS256'), n: Buffer.alloc(128, 0xff).toString('base64url') };
    issuer.publish({ keys: [weak] });
    await expectRefusal(await issuer.token({}, { alg: 'RS256' }), 'bad_signature');
  });

  it('several keys with the same kid → at most the first four that match are tried', async () => {
    const decoy = async () => ({
      ...(await exportJWK((await generateKeyPair('ES256')).publicKey)),
      kid: issuer.kid('ES256'),
      alg: 'ES256',
    });
    const decoys = await Promise.all([1, 2, 3, 4].map(decoy));
    const misfit = { ...issuer.jwk('RS256'), kid: issuer.kid('ES256') };
    issuer.publish({ keys: [misfit, ...decoys.slice(0, 3), issuer.jwk('ES256')] });
    expect(await tokens.verify(await issuer.token(), config())).toEqual({ userId: 'user-1', groups: {} });
    issuer.publish({ keys: [...decoys, issuer.jwk('ES256')] });
    clock.advance(10 * 60_000);
    await expectRefusal(await issuer.token(), 'bad_signature');
  });

  it.each<[string, Record<string, unknown>]>([
    ['bad_signature', { nbf: Math.floor(clock.nowMs() / 1_000) + 100_000 }],
    ['issuer_mismatch', { iss: 'https://other.example' }],
    ['audience_mismatch', { aud: undefined }],
    ['timestamps_invalid', { iat: undefined }],
    ['user_id_missing', { sub: undefined }],
  ])('claims: %s', async (reason, claims) => expectRefusal(await issuer.token(claims), reason));

  it('expired (no clock tolerance) → expired from the second of exp on', async () => {
    const token = await issuer.token({}, { expiresIn: 60 });
    clock.advance(60_000 - (clock.nowMs() % 1_000) - 1);
    expect(await tokens.verify(token, config())).toEqual({ userId: 'user-1', groups: {} });
    clock.advance(1);
    await expectRefusal(token, 'expired');
  });

  it('exp - iat > max_token_lifetime_seconds → lifetime_exceeded', async () => {
    const token = await issuer.token({}, { expiresIn: 61 });
    await expectRefusal(token, 'lifetime_exceeded', { max_token_lifetime_seconds: 60 });
    expect(await tokens.verify(token, config({ max_token_lifetime_seconds: 61 }))).toEqual({
      userId: 'user-1',
      groups: {},
    });
  });

  it('a required claim does not match → issuer_claims_missing with the user id', async () => {
    const required = { required_claims: [{ path: 'plan', equals: 'pro' }] };
    const refusal = await rejectionOf(tokens.verify(await issuer.token(), config(required)));
    expect(refusal).toMatchObject({ code: 'issuer_claims_missing', reason: 'claims_missing', userId: 'user-1' });
    expect(await tokens.verify(await issuer.token({ plan: 'pro' }), config(required))).toEqual({
      userId: 'user-1',
      groups: {},
    });
  });

  it('our own failure → never issuer_token_rejected', async () => {
    class BrokenKeySets extends IssuerKeySets {
      override find(): Promise<never> {
        return Promise.reject(new TypeError('a fault of ours'));
      }
    }
    const broken = new IssuerTokens(new BrokenKeySets(outbound, clock, new Log(clock, 'error', () => {})), clock);
    expect(await rejectionOf(broken.verify(await issuer.token(), config()))).toBeInstanceOf(TypeError);
  });
});

describe('mutated tokens', () => {
  const mutation = fc.record({
    alg: fc.constantFrom(...ALGORITHMS),
    kind: fc.constantFrom('replace', 'insert', 'delete', 'cut', 'double', 'swap'),
    at: fc.nat(),
    by: fc.oneof(
      fc.constantFrom('A', '.', '=', '-', '_', ' ', '\n', '\0'),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
  });

  function mutated(token: string, { kind, at, by }: { kind: string; at: number; by: string }): string {
    const index = at % token.length;
    const [head, tail] = [token.slice(0, index), token.slice(index)];
    if (kind === 'replace') return `${head}${by}${tail.slice(by.length)}`;
    if (kind === 'insert') return `${head}${by}${tail}`;
    if (kind === 'delete') return `${head}${tail.slice(1)}`;
    if (kind === 'cut') return head;
    if (kind === 'double') return `${token}${tail}`;
    return token.split('.').toReversed().join('.');
  }

  it('any change to a valid token → issuer_token_rejected, never accepted', async () => {
    const good = new Map<string, string>();
    for (const alg of ALGORITHMS) good.set(alg, await issuer.token({}, { alg }));
    await fc.assert(
      fc.asyncProperty(mutation, async ({ alg, ...change }) => {
        const original = good.get(alg) ?? '';
        const token = mutated(original, change);
        fc.pre(token !== original);
        const refusal = await rejectionOf(tokens.verify(token, config()));
        return refusal instanceof GatewayError && refusal.code === 'issuer_token_rejected';
      }),
      { numRuns: FUZZ_RUNS },
    );
  });
});
