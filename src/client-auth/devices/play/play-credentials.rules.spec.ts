import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { PlayVendor } from '../../../../test/support/client-auth/devices/play.js';
import { SERVICE_ACCOUNT } from '../../../../test/support/client-auth/devices/play-server.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { readSentCredentials, responseKeysOf, serviceAccountOf } from './play-credentials.rules.js';

const KEYS = new PlayVendor().credentials;
const pem = (type: 'rsa' | 'ec') =>
  (type === 'rsa'
    ? generateKeyPairSync('rsa', { modulusLength: 1024 })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  ).privateKey
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();

function problemOf(sent: Parameters<typeof readSentCredentials>[0]): string {
  try {
    readSentCredentials(sent);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error.message;
  }
}

describe('credentials of Play Integrity', () => {
  it('a service account, as an object and as text → the members that are needed, without its token_uri', () => {
    for (const service_account of [SERVICE_ACCOUNT, JSON.stringify(SERVICE_ACCOUNT)]) {
      const { kind, hint, secret } = readSentCredentials({ service_account });
      expect([kind, hint]).toEqual(['service_account', SERVICE_ACCOUNT.client_email]);
      expect(serviceAccountOf(secret)).toEqual({
        ...{ clientEmail: SERVICE_ACCOUNT.client_email, keyId: SERVICE_ACCOUNT.private_key_id },
        privateKey: SERVICE_ACCOUNT.private_key,
      });
      expect(secret.reveal()).not.toContain('elsewhere');
    }
  });

  it('response keys surrounded by blanks → the keys, and a hint of the public one', () => {
    const { kind, hint, secret } = readSentCredentials({ ...KEYS, decryption_key: ` ${KEYS.decryption_key}\n` });
    expect(kind).toBe('response_keys');
    expect(KEYS.verification_key).toContain(hint);
    const { decryption, verification } = responseKeysOf(secret);
    expect(decryption.export().toString('base64')).toBe(KEYS.decryption_key);
    expect(verification.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  });

  const account = (changes: object) => ({ service_account: { ...SERVICE_ACCOUNT, ...changes } });
  const ONE_KIND = 'body: must have service_account, or decryption_key and verification_key';
  const RSA = 'service_account.private_key: must be an RSA key of at least 2048 bits in PEM';
  const AES = 'decryption_key: must be base64 of 32 bytes, as Play Console shows it';
  const EC = 'verification_key: must be base64 of a public EC key on P-256, as Play Console shows it';
  it.each<[string, Parameters<typeof readSentCredentials>[0], string]>([
    ['nothing', {}, ONE_KIND],
    ['both kinds', { service_account: SERVICE_ACCOUNT, ...KEYS }, ONE_KIND],
    ['broken text', { service_account: '{' }, 'service_account: must be JSON'],
    ['text of a list', { service_account: '[]' }, 'service_account: must be an object or its JSON text'],
    ['null', { service_account: null }, 'service_account: must be an object or its JSON text'],
    ['another type', account({ type: 'authorized_user' }), 'service_account.type: must be "service_account"'],
    [
      'no address',
      account({ client_email: undefined }),
      'service_account.client_email: must be text of 1 to 320 visible characters',
    ],
    [
      'an odd key id',
      account({ private_key_id: 'a\nb' }),
      'service_account.private_key_id: must be text of 1 to 320 visible characters',
    ],
    ['no key', account({ private_key: 'soon' }), RSA],
    ['a short key', account({ private_key: pem('rsa') }), RSA],
    ['a key of another kind', account({ private_key: pem('ec') }), RSA],
    ['one key', { decryption_key: KEYS.decryption_key }, EC],
    ['a short AES key', { ...KEYS, decryption_key: 'AAAA' }, AES],
    ['the keys exchanged', { decryption_key: KEYS.verification_key, verification_key: KEYS.decryption_key }, AES],
    ['no EC key', { ...KEYS, verification_key: 'AAAA' }, EC],
  ])('%s → refused, without repeating the secret', (_, sent, problem) => {
    expect(problemOf(sent)).toBe(problem);
  });
});
