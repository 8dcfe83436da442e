import { describe, expect, it } from '@jest/globals';
import type { AttestEnvironment } from '../../../app-directory/config/app-attest-config.js';
import {
  assertionClientDataHash,
  attestationClientDataHash,
  requireCounter,
  requireFreshKey,
  sha256,
} from './signed-data.rules.js';

/** Known pairs of a client data text and its hash. */
const CHALLENGE = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const APP_ID = 'example-app-a1b2c3';
const SIGNING_KEY_ID = 'AxCwU6+xIRSh7toFoLz9KfoJMMM85YMSqcRQej4d8uw=';

describe('what the client hashes', () => {
  it('attestation → the 32 raw bytes of the challenge', () => {
    expect(attestationClientDataHash(CHALLENGE).toString('hex')).toBe(
      '630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd',
    );
  });

  it('assertion → the literal JSON text', () => {
    const hash = assertionClientDataHash({ appId: APP_ID, challenge: CHALLENGE, keyId: SIGNING_KEY_ID });
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

/** SHA-256 of "ABCDE12345.com.example.app". */
const APP_HASH = '78fac4e89cefcde20ecc77ec10d0db108e4ec3348b0c8cbafdf92cb4583f9882';
const BOTH = ['production', 'development'] as const;
const APP = { team_id: 'ABCDE12345', bundle_id: 'com.example.app', environments: BOTH };
const CREDENTIAL = Buffer.alloc(32, 0xfb);
const KEY_ID = CREDENTIAL.toString('base64');
const PRODUCTION = '61707061747465737400000000000000';
const DEVELOPMENT = '617070617474657374646576656c6f70';

/** Fields in hexadecimal. */
interface Fields {
  readonly app?: string;
  readonly flags?: string;
  readonly counter?: string;
  readonly aaguid?: string;
  readonly length?: string;
  readonly credential?: string;
  readonly rest?: string;
}

function bytes(fields: Fields = {}): Buffer {
  const { app = APP_HASH, flags = '40', counter = '00000000', aaguid = PRODUCTION } = fields;
  const { length = '0020', credential = CREDENTIAL.toString('hex'), rest = '' } = fields;
  return Buffer.from(`${app}${flags}${counter}${aaguid}${length}${credential}${rest}`, 'hex');
}

function refusal(reason: string) {
  return expect.objectContaining({ code: 'attest_failed', status: 403, reason });
}

describe('requireFreshKey', () => {
  it.each([{}, { flags: '00' }, { flags: 'ff' }, { rest: 'a0' }, { rest: 'ff'.repeat(1_000) }])(
    '%j → the environment; flags and what follows are ignored',
    (fields) => {
      expect(requireFreshKey(bytes(fields), APP, KEY_ID)).toBe('production');
    },
  );

  it.each([
    [PRODUCTION, ['production'], 'production'],
    [DEVELOPMENT, ['development'], 'development'],
    [DEVELOPMENT, BOTH, 'development'],
  ] satisfies [string, readonly AttestEnvironment[], string][])(
    'aaguid %s, accepted: %j → %s',
    (aaguid, environments, expected) => {
      expect(requireFreshKey(bytes({ aaguid }), { ...APP, environments }, KEY_ID)).toBe(expected);
    },
  );

  it.each([
    [DEVELOPMENT, ['production']],
    [PRODUCTION, ['development']],
  ] satisfies [string, AttestEnvironment[]][])('aaguid %s, accepted: %j → attest_failed', (aaguid, environments) => {
    expect(() => requireFreshKey(bytes({ aaguid }), { ...APP, environments }, KEY_ID)).toThrow(
      refusal('environment_not_allowed'),
    );
  });

  it.each([
    ['another application', { app: `00${APP_HASH.slice(2)}` }, 'app_mismatch'],
    ['counter 1', { counter: '00000001' }, 'counter_not_zero'],
    ['counter 2^24', { counter: '01000000' }, 'counter_not_zero'],
    ['an aaguid of zeros', { aaguid: '00'.repeat(16) }, 'environment_unknown'],
    ['production but for the last bit', { aaguid: PRODUCTION.replace(/0$/, '1') }, 'environment_unknown'],
    ['development but for the last bit', { aaguid: DEVELOPMENT.replace(/0$/, '1') }, 'environment_unknown'],
    ['production in another case', { aaguid: PRODUCTION.replace('61', '41') }, 'environment_unknown'],
    ['a credential id of 33 bytes', { length: '0021', rest: '00' }, 'credential_id_mismatch'],
    ['a credential id of 288 bytes', { length: '0120' }, 'credential_id_mismatch'],
    ['another credential id', { credential: `${'fb'.repeat(31)}fa` }, 'credential_id_mismatch'],
    ['86 bytes', { credential: 'fb'.repeat(31) }, 'authenticator_data_invalid'],
  ] satisfies [string, Fields, string][])('%s → attest_failed', (_, fields, reason) => {
    expect(() => requireFreshKey(bytes(fields), APP, KEY_ID)).toThrow(refusal(reason));
  });

  it('the key id in base64url → attest_failed: the spelling must match', () => {
    const keyId = CREDENTIAL.toString('base64url');
    expect(() => requireFreshKey(bytes(), APP, keyId)).toThrow(refusal('credential_id_mismatch'));
  });
});

describe('requireCounter', () => {
  it.each([
    ['00000000', 0],
    ['00000001', 1],
    ['80000000', 0x8000_0000],
    ['ffffffff', 0xffff_ffff],
  ])('%s → %d: big endian, unsigned', (counter, expected) => {
    expect(requireCounter(bytes({ counter }).subarray(0, 37), APP)).toBe(expected);
  });

  it.each([0, 32, 36])('%i bytes → attest_failed', (length) => {
    expect(() => requireCounter(bytes().subarray(0, length), APP)).toThrow(refusal('authenticator_data_invalid'));
  });

  it.each([{ team_id: 'ABCDE12346' }, { bundle_id: 'com.example.app2' }])('%j → attest_failed', (other) => {
    expect(() => requireCounter(bytes(), { ...APP, ...other })).toThrow(refusal('app_mismatch'));
  });
});
