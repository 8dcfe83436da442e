import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fastestMs } from '../../../test/support/fastest-ms.js';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { parsePayload, readTokenHeader } from './issuer-token.rules.js';

/** Long runs configure more. */
const FUZZ_RUNS = fuzzRuns(2_000);

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '').toString('base64url');
const tokenWith = (header: unknown) => `${encoded(header)}.${encoded({ sub: 'user-1' })}.c2ln`;

function refusalOf(read: () => unknown): GatewayError {
  try {
    read();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('accepted');
}

function expectReason(reason: string, token: string): void {
  expect(refusalOf(() => readTokenHeader(token))).toMatchObject({ code: 'issuer_token_rejected', reason });
}

describe('header of an issuer token', () => {
  it.each(['RS256', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA'])('alg %s → accepted', (alg) => {
    expect(readTokenHeader(tokenWith({ alg, kid: 'k', typ: 'JWT', jwk: {}, jku: 'x', x5u: 'y' }))).toEqual({
      alg,
      kid: 'k',
    });
  });

  it.each([
    {},
    { kid: 'k' },
    { alg: 'ES256' },
    { alg: 'ES256', kid: 1 },
    { alg: 'ES256', kid: null },
    { alg: 5, kid: 'k' },
  ])('header %j lacks string kid or alg → header_invalid', (header) =>
    expectReason('header_invalid', tokenWith(header)),
  );

  it('kid "" → header_invalid: no key may be found by an empty name', () => {
    expectReason('header_invalid', tokenWith({ alg: 'ES256', kid: '' }));
  });

  it.each(['none', 'None', 'HS256', 'HS512', 'RS384', 'PS512', 'es256', 'Ed25519', 'ES256K', 'toString', '__proto__'])(
    'alg %s is not accepted → alg_mismatch',
    (alg) => expectReason('alg_mismatch', tokenWith({ alg, kid: 'k' })),
  );

  it.each([[['exp']], [[]], ['b64'], [['b64']], [null]])('crit %j: none is supported → bad_signature', (crit) => {
    expectReason('bad_signature', tokenWith({ alg: 'ES256', kid: 'k', b64: true, crit }));
  });

  it.each([
    ['empty', ''],
    ['one part', 'abc'],
    ['two parts', 'abc.def'],
    ['four parts', `${tokenWith({ alg: 'ES256', kid: 'k' })}.x`],
    ['five parts', 'a.b.c.d.e'],
    ['padding', `${tokenWith({ alg: 'ES256', kid: 'k' })}=`],
    ['white space', `${tokenWith({ alg: 'ES256', kid: 'k' })}\n`],
    ['base64 instead of base64url', 'a+/b.e30.c2ln'],
    ['a second spelling of the same bytes', tokenWith({ alg: 'ES256', kid: 'k' }).replace(/c2ln$/, 'c2lnZR')],
    ['header that is not JSON', 'bm90IGpzb24.e30.c2ln'],
    ['header that is not UTF-8', '_w.e30.c2ln'],
    ['header that is a list', `${encoded([])}.e30.c2ln`],
    ['header that is null', `${encoded(null)}.e30.c2ln`],
    ['longer than 32 KiB', tokenWith({ alg: 'ES256', kid: 'k'.repeat(32 * 1_024) })],
  ])('malformed token: %s → bad_signature', (_name, token) => expectReason('bad_signature', token));

  it.each(['[]', 'null', '"text"', '1', '', '{', '{}x'])(
    'payload %s is not a JSON object → bad_signature',
    (payload) => {
      expect(refusalOf(() => parsePayload(Buffer.from(payload))).reason).toBe('bad_signature');
    },
  );

  it('payload that is not UTF-8 → bad_signature', () => {
    const bytes = Buffer.from('{"sub":"\xff"}', 'latin1');
    expect(refusalOf(() => parsePayload(bytes)).reason).toBe('bad_signature');
  });
});

describe('any text, any header, any payload', () => {
  const part = fc.oneof(
    fc.base64String(),
    fc.string({ unit: 'binary' }),
    fc.jsonValue().map(encoded),
    fc
      .record(
        {
          alg: fc.oneof(fc.constantFrom('ES256', 'none', 'HS256'), fc.jsonValue()),
          kid: fc.jsonValue(),
          crit: fc.jsonValue(),
        },
        { requiredKeys: [] },
      )
      .map(encoded),
  );
  const token = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(part, { minLength: 2, maxLength: 5 }).map((parts) => parts.join('.')),
    fc.tuple(part, part, part).map((parts) => parts.join('.')),
  );

  it('→ an accepted algorithm and a key id, or 403 issuer_token_rejected', () => {
    fc.assert(
      fc.property(token, (text) => {
        try {
          const { alg, kid } = readTokenHeader(text);
          return /^(RS256|PS256|ES256|ES384|ES512|EdDSA)$/.test(alg) && kid.length > 0;
        } catch (error) {
          return error instanceof GatewayError && error.code === 'issuer_token_rejected';
        }
      }),
      { numRuns: FUZZ_RUNS },
    );
  });

  it('→ an object, or 403 issuer_token_rejected', () => {
    const bytes = fc.oneof(
      fc.uint8Array(),
      fc.json().map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, (payload) => {
        try {
          return Object.getPrototypeOf(parsePayload(payload)) === Object.prototype;
        } catch (error) {
          return error instanceof GatewayError && error.reason === 'bad_signature';
        }
      }),
      { numRuns: FUZZ_RUNS },
    );
  });

  it.each([
    ['dots', '.'.repeat(10_000_000)],
    ['letters', 'a'.repeat(10_000_000)],
    ['nested lists', `${Buffer.from('['.repeat(20_000)).toString('base64url')}.e30.c2ln`],
    ['nested objects', `${Buffer.from('{"a":'.repeat(4_000)).toString('base64url')}.e30.c2ln`],
  ])('hostile text of %s → refused quickly', (_name, text) => {
    expect(fastestMs(() => expectReason('bad_signature', text))).toBeLessThan(50);
  });
});
