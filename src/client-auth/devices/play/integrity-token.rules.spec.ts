import { createSecretKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { genuinePayload, PlayVendor, type TokenChanges } from '../../../../test/support/client-auth/devices/play.js';
import { rejectionOf } from '../../../../test/support/rejection-of.js';
import { decodeIntegrityToken } from './integrity-token.rules.js';

const HASH = Buffer.alloc(32, 7).toString('base64url');
const vendor = new PlayVendor();
const keys = { decryption: createSecretKey(vendor.decryption), verification: vendor.signing.publicKey };
const tokenOf = (changes?: TokenChanges) => vendor.token(HASH, 0, changes);

describe('an integrity token that the gateway decodes', () => {
  it('a genuine one → its payload', async () => {
    expect(await decodeIntegrityToken(await tokenOf(), keys)).toEqual(genuinePayload(HASH, 0));
  });

  it.each<[string, string, TokenChanges]>([
    ['encrypted for another app', 'integrity_token_undecryptable', { decryption: randomBytes(32) }],
    ['wrapped with a shorter key', 'integrity_token_undecryptable', { keyWrap: 'A128KW', decryption: randomBytes(16) }],
    ['encrypted without a wrapped key', 'integrity_token_malformed', { keyWrap: 'dir' }],
    ['encrypted with a shorter key', 'integrity_token_undecryptable', { encryption: 'A128GCM' }],
    [
      'signed by another key',
      'integrity_signature_invalid',
      { signedBy: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
    ],
    [
      'signed with another algorithm',
      'integrity_signature_invalid',
      { signedWith: 'ES384', signedBy: generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey },
    ],
    [
      'signed with a shared secret',
      'integrity_signature_invalid',
      { signedWith: 'HS256', signedBy: createSecretKey(randomBytes(32)) },
    ],
    ['of no JSON', 'integrity_payload_invalid', { text: '{' }],
  ])('%s → %s', async (_, reason, changes) => {
    const error = await rejectionOf(decodeIntegrityToken(await tokenOf(changes), keys));
    expect(error).toMatchObject({ code: 'attest_failed', reason });
  });

  it.each(['', 'a', 'a.b.c', 'a.b.c.d', 'a.b.c.d.e.f', 'a..b.c.d', 'a.b.c.d.=', ' a.b.c.d.e'])(
    '%j → integrity_token_malformed',
    async (token) => {
      const error = await rejectionOf(decodeIntegrityToken(token, keys));
      expect(error).toMatchObject({ code: 'attest_failed', reason: 'integrity_token_malformed' });
    },
  );

  it('any part replaced by that of another token → refused', async () => {
    const [one, other] = [(await tokenOf()).split('.'), (await tokenOf({ text: '{}' })).split('.')];
    for (const part of [1, 2, 3, 4]) {
      const mixed = one.with(part, other[part] ?? '').join('.');
      const error = await rejectionOf(decodeIntegrityToken(mixed, keys));
      expect(error).toMatchObject({ code: 'attest_failed', reason: 'integrity_token_undecryptable' });
    }
  });

  it('the signed part without its encryption → refused', async () => {
    const error = await rejectionOf(decodeIntegrityToken('eyJhbGciOiJFUzI1NiJ9.e30.AA', keys));
    expect(error).toMatchObject({ reason: 'integrity_token_malformed' });
  });
});
