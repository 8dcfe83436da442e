import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  type AssertionChanges,
  type Device,
  DeviceVendor,
} from '../../../../test/support/client-auth/devices/device.js';
import { readTrustedRoots } from '../certificates/certificate-chain.rules.js';
import { verifyAssertionObject } from './assertion.rules.js';
import { verifyAttestationObject } from './attestation.rules.js';
import { assertionClientDataHash, attestationClientDataHash } from './signed-data.rules.js';

const CHALLENGE = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const APP_ID = 'example-app-a1b2c3';
const APP = { team_id: 'ABCDE12345', bundle_id: 'com.example.app', environments: ['production' as const] };
const REQUEST = { appId: APP_ID, challenge: CHALLENGE, teamId: APP.team_id, bundleId: APP.bundle_id };

const vendor = await DeviceVendor.create();
const device = vendor.device();
const publicKey = await registered(device);

async function registered(attested: Device) {
  const proof = await attested.attest(REQUEST);
  const key = verifyAttestationObject(
    Buffer.from(proof, 'base64'),
    { app: APP, keyId: attested.keyId, clientDataHash: attestationClientDataHash(CHALLENGE) },
    { roots: readTrustedRoots(vendor.rootPem), atMs: Date.now() },
  );
  return createPublicKey({ key: Buffer.from(key.publicKey, 'base64'), format: 'der', type: 'spki' });
}

/** Verifies an assertion with counter 8 after 7, unless changed. */
function validate(changes: AssertionChanges = {}, expected: { counter?: number; keyId?: string } = {}) {
  const { counter = 7, keyId = device.keyId } = expected;
  const proof = Buffer.from(device.assert(REQUEST, { counter: 8, ...changes }), 'base64');
  const clientDataHash = assertionClientDataHash({ appId: APP_ID, challenge: CHALLENGE, keyId });
  return verifyAssertionObject(proof, { app: APP, clientDataHash, publicKey, counter }).counter;
}

function refusal(reason: string) {
  return expect.objectContaining({ code: 'attest_failed', status: 403, reason });
}

/** The signed text, with members changed. */
function clientData(changed: { app?: string; challenge?: string; keyId?: string } = {}): string {
  const { app = APP_ID, challenge = CHALLENGE, keyId = device.keyId } = changed;
  return `{"app":"${app}","challenge":"${challenge}","key_id":"${keyId}"}`;
}

describe('a genuine assertion', () => {
  it('→ its counter', () => {
    expect(validate()).toBe(8);
  });

  it('key id with a slash → accepted', async () => {
    let slashed = vendor.device();
    while (!slashed.keyId.includes('/')) slashed = vendor.device();
    const proof = Buffer.from(slashed.assert(REQUEST), 'base64');
    const clientDataHash = assertionClientDataHash({ appId: APP_ID, challenge: CHALLENGE, keyId: slashed.keyId });
    const expected = { app: APP, clientDataHash, publicKey: await registered(slashed), counter: 0 };
    expect(verifyAssertionObject(proof, expected).counter).toBe(1);
  });

  it('unknown members, data after the counter → tolerated', () => {
    const changes: AssertionChanges = {
      members: (members) => members.set('extra', [1, new Map([['deep', null]])]),
      authenticatorData: (bytes) => Buffer.concat([bytes, Buffer.from('more')]),
    };
    expect(validate(changes)).toBe(8);
  });

  it('the highest counter → read as unsigned', () => {
    expect(validate({ counter: 0xffff_ffff }, { counter: 0xffff_fffe })).toBe(0xffff_ffff);
  });
});

describe('points 1 and 2: the nonce is signed with the stored key', () => {
  it.each([
    ['another application', { clientData: clientData({ app: 'example-app-zzzzzz' }) }],
    ['another challenge', { clientData: clientData({ challenge: CHALLENGE.replace('A', 'B') }) }],
    ['another key id', { clientData: clientData({ keyId: 'AxCwU6+xIRSh7toFoLz9KfoJMMM85YMSqcRQej4d8uw=' }) }],
    ['a blank more', { clientData: `${clientData()} ` }],
    [
      'the bytes of the challenge, as in an attestation',
      { clientData: Buffer.from(CHALLENGE, 'base64url').toString('latin1') },
    ],
    ['bytes after the signature', { signature: (der: Buffer) => Buffer.concat([der, Buffer.of(0)]) }],
    ['a signature that is not DER', { signature: () => Buffer.alloc(64, 1) }],
    ['an empty signature', { signature: () => Buffer.alloc(0) }],
    ['zeros for r and s', { signature: () => Buffer.from('3006020100020100', 'hex') }],
  ] satisfies [string, AssertionChanges][])('%s → attest_failed', (_, changes) => {
    expect(() => validate(changes)).toThrow(refusal('signature_invalid'));
  });

  it('data changed after it was signed → attest_failed', () => {
    const changes: AssertionChanges = {
      members: (members) => {
        const signed = members.get('authenticatorData');
        if (Buffer.isBuffer(signed)) signed.writeUInt8(0x41, 32);
      },
    };
    expect(() => validate(changes)).toThrow(refusal('signature_invalid'));
  });

  it('another device’s key → attest_failed', () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    const proof = Buffer.from(device.assert(REQUEST), 'base64');
    const clientDataHash = assertionClientDataHash({ appId: APP_ID, challenge: CHALLENGE, keyId: device.keyId });
    expect(() => verifyAssertionObject(proof, { app: APP, clientDataHash, publicKey: other, counter: 0 })).toThrow(
      refusal('signature_invalid'),
    );
  });
});

describe('points 3 and 4: the application and the counter', () => {
  it('another bundle, another team → attest_failed', () => {
    for (const other of [{ bundleId: 'com.example.other' }, { teamId: 'ZZZZZ12345' }]) {
      const proof = Buffer.from(device.assert({ ...REQUEST, ...other }), 'base64');
      const clientDataHash = assertionClientDataHash({ appId: APP_ID, challenge: CHALLENGE, keyId: device.keyId });
      const expected = { app: APP, clientDataHash, publicKey, counter: 0 };
      expect(() => verifyAssertionObject(proof, expected)).toThrow(refusal('app_mismatch'));
    }
  });

  it.each([7, 6, 0])('counter %i after 7 → attest_failed: it must be strictly greater', (counter) => {
    expect(() => validate({ counter })).toThrow(refusal('counter_not_greater'));
  });
});

describe('shape: a CBOR map of two byte strings', () => {
  it.each([
    ['no signature', 'signature', undefined, 'signature_missing'],
    ['a signature that is text', 'signature', 'text', 'signature_missing'],
    ['no authenticator data', 'authenticatorData', undefined, 'authenticator_data_invalid'],
    ['authenticator data that is a list', 'authenticatorData', [1, 2], 'authenticator_data_invalid'],
    ['authenticator data of 36 bytes', 'authenticatorData', Buffer.alloc(36), 'authenticator_data_invalid'],
  ])('%s → attest_failed', (_, name, value, reason) => {
    const changes: AssertionChanges = {
      members: (members) => {
        members.delete(name);
        if (value !== undefined) members.set(name, value);
      },
    };
    expect(() => validate(changes)).toThrow(refusal(reason));
  });

  it('bytes after the map → attest_failed', () => {
    const changes: AssertionChanges = { bytes: (cbor) => Buffer.concat([cbor, Buffer.of(0xf6)]) };
    expect(() => validate(changes)).toThrow(refusal('cbor_invalid'));
  });
});
