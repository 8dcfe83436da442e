import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import type { IssuerConfig } from '../../app-directory/config/issuer-config.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { validateClaims } from './issuer-claims.rules.js';
import { IssuerClaimsMissing } from './issuer-token.rules.js';

/** Long runs configure more. */
const FUZZ_RUNS = fuzzRuns(2_000);

const NOW_SECONDS = 1_800_000_000;
const ISSUER: IssuerConfig = {
  jwks_url: 'https://id.example.com/keys',
  issuer: ['https://id.example.com/', 'https://old.example.com'],
  audience: ['mobile', 'web'],
  user_id_claim: 'sub',
  required_claims: [{ path: 'entitlements', contains: 'pro' }],
  max_token_lifetime_seconds: 3_600,
};
const GOOD = {
  sub: 'user-1',
  iss: 'https://id.example.com/',
  aud: 'mobile',
  iat: NOW_SECONDS - 10,
  exp: NOW_SECONDS + 600,
  entitlements: ['pro'],
};

const validate = (claims: Record<string, unknown>, issuer = ISSUER) =>
  validateClaims(claims, issuer, NOW_SECONDS * 1_000);

function refusalOf(claims: Record<string, unknown>, issuer = ISSUER): GatewayError {
  try {
    const userId = validate(claims, issuer);
    throw new Error(`accepted as ${userId}`);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function expectReason(reason: string, changes: Record<string, unknown>): void {
  expect(refusalOf({ ...GOOD, ...changes })).toMatchObject({ code: 'issuer_token_rejected', status: 403, reason });
}

describe('claims of an issuer token', () => {
  it('everything as configured → the user id', () => expect(validate(GOOD)).toBe('user-1'));

  it.each([NOW_SECONDS + 0.001, NOW_SECONDS + 3_600, Infinity, '0', null, true, [], {}])(
    'nbf %j: in the future or not a number → bad_signature',
    (nbf) => expectReason('bad_signature', { nbf }),
  );

  it.each([NOW_SECONDS, NOW_SECONDS - 0.5, 0, -1])('nbf %d: in the past → accepted', (nbf) => {
    expect(validate({ ...GOOD, nbf })).toBe('user-1');
  });

  it.each([
    undefined,
    null,
    '',
    'https://id.example.com',
    'https://id.example.com//',
    'https://ID.example.com/',
    ['https://id.example.com/'],
    7,
  ])('iss %j: not in the configured set → issuer_mismatch', (iss) => expectReason('issuer_mismatch', { iss }));

  it('iss: the second of the set → accepted', () => {
    expect(validate({ ...GOOD, iss: 'https://old.example.com' })).toBe('user-1');
  });

  it.each([undefined, null, '', 'Mobile', [], ['tv'], ['mobile', 7], [['mobile']], { mobile: true }, 7])(
    'aud %j: missing or disjoint → audience_mismatch',
    (aud) => expectReason('audience_mismatch', { aud }),
  );

  it.each(['web', ['mobile'], ['tv', 'web']])('aud %j: string or array that meets the set → accepted', (aud) => {
    expect(validate({ ...GOOD, aud })).toBe('user-1');
  });

  it.each([undefined, null, '1800000600', true, [], {}, Infinity, -Infinity])(
    'exp or iat %j: not a number → timestamps_invalid',
    (value) => {
      expectReason('timestamps_invalid', { exp: value });
      expectReason('timestamps_invalid', { iat: value });
    },
  );

  it.each([NOW_SECONDS, NOW_SECONDS - 0.001, NOW_SECONDS - 1, 0, -5])(
    'exp %d: expired (no clock tolerance) → expired',
    (exp) => expectReason('expired', { exp }),
  );

  it('exp: a millisecond from now → accepted', () => {
    expect(validate({ ...GOOD, exp: NOW_SECONDS + 0.001 })).toBe('user-1');
  });

  it.each([
    [NOW_SECONDS + 600, NOW_SECONDS + 600],
    [NOW_SECONDS + 601, NOW_SECONDS + 600],
    [NOW_SECONDS - 10, NOW_SECONDS + 3_591],
  ])('iat %d, exp %d: exp <= iat, or longer than the maximum → lifetime_exceeded', (iat, exp) => {
    expectReason('lifetime_exceeded', { iat, exp });
  });

  it.each([
    [NOW_SECONDS + 60, NOW_SECONDS + 3_660, true],
    [NOW_SECONDS + 61, NOW_SECONDS + 3_661, false],
    [NOW_SECONDS + 31_536_000, NOW_SECONDS + 31_539_600, false],
  ])('ADR 0014: iat %d, exp %d of a clock that is ahead → accepted: %s', (iat, exp, isAccepted) => {
    if (isAccepted) expect(validate({ ...GOOD, iat, exp })).toBe('user-1');
    else expectReason('lifetime_exceeded', { iat, exp });
  });

  it('exp - iat: exactly the maximum → accepted', () => {
    expect(validate({ ...GOOD, iat: NOW_SECONDS - 10, exp: NOW_SECONDS + 3_590 })).toBe('user-1');
  });

  it.each([undefined, null, '', 0, 7, true, ['user-1'], { id: 'user-1' }])(
    'user id %j: not a non-empty string → user_id_missing',
    (sub) => expectReason('user_id_missing', { sub }),
  );

  it.each([
    ['longer than 1,024 bytes', 'u'.repeat(1_025)],
    ['longer than 1,024 bytes in UTF-8', 'ü'.repeat(513)],
    ['with a NUL character', 'user\0'],
    ['with half a character', 'user\ud800'],
    ['that is a dot segment', '.'],
    ['that is a double dot segment', '..'],
  ])('user id %s: cannot be stored or addressed unchanged → user_id_missing', (_name, sub) => {
    expectReason('user_id_missing', { sub });
  });

  it.each(['...', '%2e', 'u'.repeat(1_024), 'ü'.repeat(512), 'name with spaces', '東京-🙂'])(
    'user id "%s" → accepted',
    (sub) => {
      expect(validate({ ...GOOD, sub })).toBe(sub);
    },
  );

  it('user id: at a dotted path → read from there; inherited members do not count', () => {
    const claims = { ...GOOD, sub: undefined, user: { id: 'user-2' } };
    expect(validate(claims, { ...ISSUER, user_id_claim: 'user.id' })).toBe('user-2');
    const inherited = refusalOf(claims, { ...ISSUER, user_id_claim: 'constructor.name' });
    expect(inherited.reason).toBe('user_id_missing');
  });

  it('a required claim does not match → issuer_claims_missing, attributed to the verified user', () => {
    const refusal = refusalOf({ ...GOOD, entitlements: [] });
    expect(refusal).toBeInstanceOf(IssuerClaimsMissing);
    expect(refusal).toMatchObject({
      code: 'issuer_claims_missing',
      status: 403,
      reason: 'claims_missing',
      userId: 'user-1',
    });
    expect(refusal.message).not.toContain('entitlements');
    expect(refusal.message).not.toContain('user-1');
  });
});

describe('order of the rules', () => {
  const BREAKS: readonly [string, Record<string, unknown>][] = [
    ['bad_signature', { nbf: NOW_SECONDS + 60 }],
    ['issuer_mismatch', { iss: 'other' }],
    ['audience_mismatch', { aud: 'other' }],
    ['timestamps_invalid', { iat: 'yesterday' }],
    ['expired', { exp: NOW_SECONDS - 20 }],
    ['lifetime_exceeded', { iat: NOW_SECONDS - 9_000 }],
    ['user_id_missing', { sub: '' }],
    ['claims_missing', { entitlements: null }],
  ];

  it.each(BREAKS.map(([reason], index) => [reason, index] as const))(
    '%s and all later rules fail → %s',
    (reason, index) => {
      const all = BREAKS.slice(index).map(([, changes]) => changes);
      // Of two broken rules on the same claim, the earlier one is reported.
      expect(refusalOf(Object.assign({ ...GOOD }, ...all.toReversed())).reason).toBe(reason);
    },
  );
});

describe('any claims', () => {
  const odd = fc.oneof(
    fc.constantFrom(undefined, null, '', 'mobile', 'user-1', 'pro', 0, -1, Infinity, true, [], {}, ['pro'], ['mobile']),
    fc.constantFrom(...[-3_601, -1, 0, 1, 3_600].map((offset) => NOW_SECONDS + offset)),
    fc.jsonValue(),
  );
  const member = fc.constantFrom('sub', 'iss', 'aud', 'iat', 'exp', 'nbf', 'entitlements', '__proto__');
  const changed = fc
    .array(fc.tuple(member, odd), { maxLength: 3 })
    .map((changes) => Object.fromEntries([...Object.entries(GOOD), ...changes]));
  const claims = fc.oneof(changed, fc.dictionary(fc.string(), fc.jsonValue()));

  /** An independent implementation of the rules, without their order. */
  function isGood({ sub, iss, aud, iat, exp, nbf, entitlements }: Record<string, unknown>): boolean {
    const audiences = Array.isArray(aud) ? aud : [aud];
    const words = typeof entitlements === 'string' ? entitlements.split(/\s+/) : entitlements;
    return (
      (nbf === undefined || (typeof nbf === 'number' && !(nbf > NOW_SECONDS))) &&
      ISSUER.issuer.some((one) => one === iss) &&
      audiences.filter((one) => one === 'mobile' || one === 'web').length > 0 &&
      audiences.filter((one) => typeof one !== 'string').length === 0 &&
      Number.isFinite(iat) &&
      Number.isFinite(exp) &&
      Number(exp) > NOW_SECONDS &&
      Number(exp) > Number(iat) &&
      Number(exp) - Number(iat) <= 3_600 &&
      typeof sub === 'string' &&
      /^[^\0]{1,512}$/su.test(sub) &&
      Array.isArray(words) &&
      words.indexOf('pro') >= 0
    );
  }

  it('accepted if and only if every rule holds; otherwise one of the two refusals', () => {
    fc.assert(
      fc.property(claims, (candidate) => {
        if (isGood(candidate)) return validate(candidate) === candidate.sub;
        return ['issuer_token_rejected', 'issuer_claims_missing'].includes(refusalOf(candidate).code);
      }),
      { numRuns: FUZZ_RUNS },
    );
  });
});
