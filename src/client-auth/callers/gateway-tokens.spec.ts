import { createHmac, createSecretKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FakeClock } from '../../../test/support/clock.js';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { SystemIds } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { TokenSecrets } from '../../platform/secrets/signing-secrets.js';
import { requireCredential } from './caller-credential.rules.js';
import { GATEWAY_TOKEN_LIFETIME_SECONDS } from './gateway-token.rules.js';
import { GatewayTokens } from './gateway-tokens.js';

const SECRET = 'a-secret-that-signs-gateway-tokens';
const OTHER_SECRET = 'a-secret-that-signs-nothing-any-more';
const HOLDER = { appId: 'notes-abc123', userId: 'user-1', authMethod: 'attest' } as const;
const CLAIMS = { ...HOLDER, apiKeyId: null, groups: {}, unproven: null };
const HEADER = { alg: 'HS256', typ: 'JWT' };
const START_MS = 1_790_000_000_500;
const START_SECONDS = 1_790_000_000;

function setUp(current = SECRET, previous?: string) {
  const clock = new FakeClock(START_MS);
  const secrets = new TokenSecrets(new Secret(current), previous === undefined ? undefined : new Secret(previous));
  return { clock, tokens: new GatewayTokens(secrets, clock, new SystemIds()) };
}

/** Claims of a currently valid token with these overrides; `undefined` removes one. */
function payload(claims: Record<string, unknown> = {}): Record<string, unknown> {
  const base = { app: HOLDER.appId, auth_method: 'attest', sub: HOLDER.userId, jti: 'e5b7c1a0' };
  return { ...base, iat: START_SECONDS, exp: START_SECONDS + 60, ...claims };
}

const encoded = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');

/** A hand-made token, signed with HMAC regardless of its header. */
function forged(header: unknown, claims: unknown, secret = SECRET, digest = 'sha256'): string {
  const signed = `${encoded(header)}.${encoded(claims)}`;
  return `${signed}.${createHmac(digest, secret).update(signed).digest('base64url')}`;
}

function parts(token: string): unknown[] {
  return token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
}

describe('a token that is issued', () => {
  it('for a device → exactly these header members and claims', async () => {
    const { tokens } = setUp();
    expect(parts(await tokens.issue(HOLDER))).toEqual([
      { alg: 'HS256', typ: 'JWT' },
      {
        sub: 'user-1',
        app: 'notes-abc123',
        auth_method: 'attest',
        iat: START_SECONDS,
        exp: START_SECONDS + 3600,
        jti: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      },
    ]);
  });

  it('for an attested Android key → valid for half an hour', async () => {
    const { tokens, clock } = setUp();
    const token = await tokens.issue({ ...HOLDER, authMethod: 'key_attestation' });
    expect(await tokens.verify(token)).toMatchObject({ expiresAtMs: (START_SECONDS + 1800) * 1000 });
    clock.advance(1_800_000);
    expect(await tokens.verify(token)).toBeUndefined();
  });

  it('for an unproven device → says so, and in which mode', async () => {
    const { tokens } = setUp();
    const token = await tokens.issue({ ...HOLDER, authMethod: 'unproven', unproven: 'tier' });
    expect(parts(token)[1]).toMatchObject({ auth_method: 'unproven', proof: 'none', mode: 'tier' });
    expect(await tokens.verify(token)).toMatchObject({ authMethod: 'unproven', unproven: 'tier' });
  });

  it('for an application key → names it, and so do the verified claims', async () => {
    const { tokens } = setUp();
    const token = await tokens.issue({ ...HOLDER, authMethod: 'api_key', apiKeyId: 'key_1' });
    expect(parts(token)[1]).toMatchObject({ auth_method: 'api_key', api_key_id: 'key_1' });
    expect(await tokens.verify(token)).toMatchObject({ authMethod: 'api_key', apiKeyId: 'key_1' });
  });

  it('for the longest ids there are, each character escaped → verifies as issued and as a credential', async () => {
    const { tokens } = setUp();
    const longest = { appId: 'a'.repeat(63), userId: '\u0001'.repeat(1_024), apiKeyId: `key_${'0'.repeat(20)}` };
    const token = await tokens.issue({ ...longest, authMethod: 'api_key' });
    const { value } = requireCredential({ authorization: `Bearer ${token}` }, ['authorization']);
    expect(await tokens.verify(value)).toMatchObject(longest);
  });

  it('twice in one millisecond → two tokens', async () => {
    const { tokens } = setUp();
    expect(await tokens.issue(HOLDER)).not.toBe(await tokens.issue(HOLDER));
  });
});

describe('a token that is presented', () => {
  it('presented again → the same claims synchronously, without a promise', async () => {
    const { tokens } = setUp();
    const token = await tokens.issue(HOLDER);
    const claims = await tokens.verify(token);
    expect(claims).toEqual({
      ...CLAIMS,
      groups: {},
      issuedAtMs: START_SECONDS * 1000,
      expiresAtMs: (START_SECONDS + 3600) * 1000,
    });
    expect(tokens.verify(token)).toBe(claims);
    expect(tokens.validate(token)).toBe(claims);
  });

  it('hand-made with an extra claim → accepted: the signature decides', async () => {
    const { tokens } = setUp();
    expect(await tokens.verify(forged(HEADER, payload({ plan: 'pro' })))).toMatchObject(CLAIMS);
  });

  it.each([
    ['cold', false],
    ['remembered', true],
  ])(
    '%s, in its last millisecond → valid; one millisecond later → expired, without tolerance',
    async (_name, isRemembered) => {
      const { tokens, clock } = setUp();
      const token = await tokens.issue(HOLDER);
      if (isRemembered) await tokens.verify(token);
      clock.advance(GATEWAY_TOKEN_LIFETIME_SECONDS * 1000 - 501);
      expect(await tokens.verify(token)).toMatchObject(CLAIMS);
      clock.advance(1);
      expect(await tokens.validate(token)).toBe('token_expired');
      expect(await tokens.validate(token)).toBe('token_expired');
      expect(await tokens.verify(token)).toBeUndefined();
    },
  );

  it.each<[string, Record<string, unknown>]>([
    ['no sub', { sub: undefined }],
    ['an empty sub', { sub: '' }],
    ['a number for sub', { sub: 7 }],
    ['no app', { app: undefined }],
    ['an empty app', { app: '' }],
    ['a list for app', { app: [HOLDER.appId] }],
    ['no auth_method', { auth_method: undefined }],
    ['another auth_method', { auth_method: 'password' }],
    ['auth_method in capitals', { auth_method: 'ATTEST' }],
    ['a list for auth_method', { auth_method: ['attest'] }],
    ['no jti', { jti: undefined }],
    ['an empty jti', { jti: '' }],
    ['a number for jti', { jti: 1 }],
    ['no iat', { iat: undefined }],
    ['text for iat', { iat: '1790000000' }],
    ['a fraction for iat', { iat: START_SECONDS + 0.5 }],
    ['no exp', { exp: undefined }],
    ['null for exp', { exp: null }],
    ['text for exp', { exp: '9999999999' }],
    ['a fraction for exp', { exp: START_SECONDS + 60.5 }],
    ['an exp beyond all numbers', { exp: 1e300 }],
    ['an exp at its iat', { exp: START_SECONDS + 1, iat: START_SECONDS + 1 }],
    ['an exp before its iat', { exp: START_SECONDS + 10, iat: START_SECONDS + 11 }],
    ['no proof and no word of it', { auth_method: 'unproven' }],
    ['no proof in no mode', { auth_method: 'unproven', proof: 'none', mode: 'enforce' }],
    ['no proof of a proven method', { proof: 'none', mode: 'tier' }],
    ['an empty api_key_id', { api_key_id: '' }],
    ['null for api_key_id', { api_key_id: null }],
    ['an object for api_key_id', { api_key_id: { id: 'key_1' } }],
    ['an nbf to come', { nbf: START_SECONDS + 30 }],
    ['a dot segment for sub', { sub: '.' }],
    ['a double dot segment for sub', { sub: '..' }],
    ['a sub that is too long', { sub: 'u'.repeat(1_025) }],
    ['a subject with NUL', { sub: 'a\u0000' }],
    ['a subject of half a surrogate pair', { sub: '\ud800' }],
  ])('with %s → invalid', async (_name, claims) => {
    expect(await setUp().tokens.validate(forged(HEADER, payload(claims)))).toBe('token_invalid');
  });

  it.each([
    ['a list', [payload()]],
    ['null', null],
    ['text', 'claims'],
  ])('whose claims are %s → invalid', async (_name, claims) => {
    expect(await setUp().tokens.validate(forged(HEADER, claims))).toBe('token_invalid');
  });

  it.each<[string, unknown]>([
    ['alg none', { ...HEADER, alg: 'none' }],
    ['alg nOnE', { ...HEADER, alg: 'nOnE' }],
    ['alg HS384', { ...HEADER, alg: 'HS384' }],
    ['alg RS256', { ...HEADER, alg: 'RS256' }],
    ['alg hs256', { ...HEADER, alg: 'hs256' }],
    ['a list for alg', { ...HEADER, alg: ['HS256'] }],
    ['no alg', { typ: 'JWT' }],
    ['no typ', { alg: 'HS256' }],
    ['another typ', { ...HEADER, typ: 'at+jwt' }],
    ['typ in small letters', { ...HEADER, typ: 'jwt' }],
    ['an unknown critical member', { ...HEADER, crit: ['plan'], plan: 'pro' }],
    ['an empty crit', { ...HEADER, crit: [] }],
    ['an unencoded payload', { ...HEADER, crit: ['b64'], b64: false }],
    ['null for a header', null],
  ])('with %s, signed with our secret → invalid', async (_name, header) => {
    expect(await setUp().tokens.validate(forged(header, payload()))).toBe('token_invalid');
  });

  it('that contains its own key → the key is ignored', async () => {
    const jwk = createSecretKey(OTHER_SECRET, 'utf8').export({ format: 'jwk' });
    const header = { ...HEADER, jwk, kid: '1', jku: 'https://keys.example.com' };
    expect(await setUp().tokens.validate(forged(header, payload(), OTHER_SECRET))).toBe('token_invalid');
  });

  it.each([
    ['a longer digest', forged({ ...HEADER, alg: 'HS384' }, payload(), SECRET, 'sha384')],
    ['a longer digest that calls itself HS256', forged(HEADER, payload(), SECRET, 'sha384')],
    ['another secret', forged(HEADER, payload(), OTHER_SECRET)],
    ['an empty secret', forged(HEADER, payload(), '')],
    [
      'the text of a public key',
      forged(
        { ...HEADER, alg: 'RS256' },
        payload(),
        generateKeyPairSync('rsa', { modulusLength: 2048 })
          .publicKey.export({ type: 'spki', format: 'pem' })
          .toString(),
      ),
    ],
    ['no signature', `${encoded({ ...HEADER, alg: 'none' })}.${encoded(payload())}.`],
  ])('signed with %s → invalid', async (_name, token) => {
    expect(await setUp().tokens.validate(token)).toBe('token_invalid');
  });

  it('expired and not signed by us → invalid: only our own tokens expire', async () => {
    const past = payload({ iat: START_SECONDS - 7200, exp: START_SECONDS - 3600 });
    expect(await setUp().tokens.validate(forged(HEADER, past, OTHER_SECRET))).toBe('token_invalid');
    expect(await setUp().tokens.validate(forged(HEADER, past))).toBe('token_expired');
  });
});

describe('a token from a clock that was ahead (ADR 0014)', () => {
  const MINUTE_MS = 60_000;
  const YEAR_MS = 365 * 24 * 60 * MINUTE_MS;

  /** A token from a clock that is ahead of the verifying one. */
  async function fromAhead(aheadMs: number, secret = SECRET): Promise<string> {
    const { tokens, clock } = setUp(secret);
    clock.advance(aheadMs);
    return tokens.issue(HOLDER);
  }

  it.each([SECRET, OTHER_SECRET])('by a year, signed with %s → invalid, cached or not', async (secret) => {
    const { tokens } = setUp(SECRET, OTHER_SECRET);
    const token = await fromAhead(YEAR_MS, secret);
    expect(await tokens.validate(token)).toBe('token_of_wrong_clock');
    expect(await tokens.validate(token)).toBe('token_of_wrong_clock');
    expect(await tokens.verify(token)).toBeUndefined();
  });

  it('by a minute → valid; by more → not valid yet, then valid for its full lifetime', async () => {
    const { tokens, clock } = setUp();
    expect(await tokens.validate(await fromAhead(MINUTE_MS))).toMatchObject(CLAIMS);
    const token = await fromAhead(MINUTE_MS + 1_000);
    expect(await tokens.validate(token)).toBe('token_of_wrong_clock');
    clock.advance(1_000);
    expect(await tokens.validate(token)).toMatchObject(CLAIMS);
    clock.advance(MINUTE_MS + GATEWAY_TOKEN_LIFETIME_SECONDS * 1000);
    expect(await tokens.validate(token)).toBe('token_expired');
  });

  it('verified with the wrong clock, cached, the clock corrected → invalid at once', async () => {
    const { tokens, clock } = setUp();
    clock.advance(YEAR_MS);
    const token = await tokens.issue(HOLDER);
    expect(await tokens.validate(token)).toMatchObject(CLAIMS);
    clock.advance(-YEAR_MS);
    expect(await tokens.validate(token)).toBe('token_of_wrong_clock');
    expect(await tokens.validate(token)).toBe('token_of_wrong_clock');
  });

  it.each([
    ['expires an hour and a minute from now', { iat: START_SECONDS - 10, exp: START_SECONDS + 3_660 }, true],
    ['expires a second later', { iat: START_SECONDS - 10, exp: START_SECONDS + 3_661 }, false],
    ['was issued a minute from now', { iat: START_SECONDS + 60, exp: START_SECONDS + 120 }, true],
    ['was issued a second later', { iat: START_SECONDS + 61, exp: START_SECONDS + 120 }, false],
    ['never expires', { exp: Number.MAX_SAFE_INTEGER }, false],
  ])('%s → valid: %s', async (_name, claims, isGood) => {
    const checked = await setUp().tokens.validate(forged(HEADER, payload(claims)));
    if (isGood) expect(checked).toMatchObject(CLAIMS);
    else expect(checked).toBe('token_of_wrong_clock');
  });
});

describe('caching of verified tokens', () => {
  it('a token that differs in the unused bits of its last character, or in padding → not the same token', async () => {
    const { tokens } = setUp();
    const token = await tokens.issue(HOLDER);
    await tokens.verify(token);
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const signature = Buffer.from(token.split('.')[2] ?? '', 'base64url');
    const twins = [...letters].map((letter) => token.slice(0, -1) + letter).filter((twin) => twin !== token);
    const sameBytes = twins.filter((twin) => Buffer.from(twin.split('.')[2] ?? '', 'base64url').equals(signature));
    expect(sameBytes).toHaveLength(3);
    for (const twin of [...twins, `${token}=`, `${token} `, ` ${token}`, `${token}.`, token.replaceAll('.', '. ')])
      expect(await tokens.validate(twin)).toBe('token_invalid');
    expect(tokens.validate(token)).toMatchObject(CLAIMS);
  });

  it('the payload of a token before the signature of another → invalid, also after both were verified', async () => {
    const { tokens } = setUp();
    const one = (await tokens.issue(HOLDER)).split('.');
    const other = (await tokens.issue({ ...HOLDER, userId: 'user-2' })).split('.');
    await Promise.all([tokens.verify(one.join('.')), tokens.verify(other.join('.'))]);
    expect(await tokens.validate([one[0], one[1], other[2]].join('.'))).toBe('token_invalid');
  });

  it('a token that failed → verified again each time', async () => {
    const { tokens, clock } = setUp();
    const token = forged(HEADER, payload({ nbf: START_SECONDS + 1 }));
    expect(await tokens.validate(token)).toBe('token_invalid');
    clock.advance(1_000);
    expect(await tokens.validate(token)).toMatchObject(CLAIMS);
  });
});

describe('two secrets', () => {
  it('a token of the previous secret → valid until that secret is removed', async () => {
    const token = await setUp(OTHER_SECRET).tokens.issue(HOLDER);
    const overlap = setUp(SECRET, OTHER_SECRET).tokens;
    expect(await overlap.validate(token)).toMatchObject(CLAIMS);
    expect(overlap.validate(token)).toMatchObject(CLAIMS);
    expect(await setUp(SECRET).tokens.validate(token)).toBe('token_invalid');
  });

  it('during the overlap → the current secret signs, and an old token expires as usual', async () => {
    const overlap = setUp(SECRET, OTHER_SECRET);
    expect(await setUp(SECRET).tokens.validate(await overlap.tokens.issue(HOLDER))).toMatchObject(CLAIMS);
    const old = await setUp(OTHER_SECRET).tokens.issue(HOLDER);
    overlap.clock.advance(GATEWAY_TOKEN_LIFETIME_SECONDS * 1000);
    expect(await overlap.tokens.validate(old)).toBe('token_expired');
  });
});

describe('anything else', () => {
  const { tokens } = setUp();

  it('any text → invalid, never thrown', async () => {
    const letters = fc.constantFrom(...'.ey0_-A=');
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: letters, maxLength: 120 }),
      fc.array(fc.string({ unit: letters }), { minLength: 3, maxLength: 3 }).map((three) => three.join('.')),
    );
    await fc.assert(fc.asyncProperty(texts, async (text) => (await tokens.validate(text)) === 'token_invalid'));
  });

  it('any JSON as header and claims, signed with our secret → claims or a reason, never thrown', async () => {
    const json = fc.jsonValue({ maxDepth: 2 });
    await fc.assert(
      fc.asyncProperty(json, json, async (header, claims) => {
        expect(['token_invalid', 'token_expired']).toContain(await tokens.validate(forged(header, claims)));
        expect(['token_invalid', 'token_expired']).toContain(await tokens.validate(forged(HEADER, claims)));
      }),
    );
  });

  it('a token with one character changed, removed or added, or truncated → invalid', async () => {
    const token = await tokens.issue(HOLDER);
    await tokens.verify(token);
    const change = fc.tuple(fc.nat(token.length - 1), fc.nat(2), fc.string({ maxLength: 2, unit: 'grapheme-ascii' }));
    await fc.assert(
      fc.asyncProperty(change, async ([at, removed, inserted]) => {
        const changed = token.slice(0, at) + inserted + token.slice(at + removed);
        fc.pre(changed !== token);
        expect(await tokens.validate(changed)).toBe('token_invalid');
        expect(await tokens.validate(token.slice(0, at))).toBe('token_invalid');
      }),
      { numRuns: fuzzRuns(500) },
    );
  });
});
