import { describe, expect, it } from '@jest/globals';
import { assertionClientDataHash, attestationClientDataHash, sha256 } from './client-data.rules.js';

/** Known pairs of a client data text and its hash. */
const CHALLENGE = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const APP_ID = 'example-app-a1b2c3';
const KEY_ID = 'AxCwU6+xIRSh7toFoLz9KfoJMMM85YMSqcRQej4d8uw=';

describe('what the client hashes', () => {
  it('attestation → the 32 raw bytes of the challenge', () => {
    expect(attestationClientDataHash(CHALLENGE).toString('hex')).toBe(
      '630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd',
    );
  });

  it('assertion → the literal JSON text', () => {
    const hash = assertionClientDataHash({ appId: APP_ID, challenge: CHALLENGE, keyId: KEY_ID });
    expect(hash.toString('hex')).toBe('e86fb03cca3467dbbf204deddc25cba02cc1e8ec18b629ecbd88e1f718630da9');
  });

  it('assertion with a slash in the key id → the slash is not escaped', () => {
    const keyId = 'a/b+c/d=';
    const text = `{"app":"${APP_ID}","challenge":"${CHALLENGE}","key_id":"a/b+c/d="}`;
    expect(assertionClientDataHash({ appId: APP_ID, challenge: CHALLENGE, keyId })).toEqual(sha256(text));
  });

  it('application → the hash of team and bundle', () => {
    expect(sha256('ABCDE12345.com.example.app').toString('hex')).toBe(
      '78fac4e89cefcde20ecc77ec10d0db108e4ec3348b0c8cbafdf92cb4583f9882',
    );
  });
});
