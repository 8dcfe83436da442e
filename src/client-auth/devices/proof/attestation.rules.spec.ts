import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type AttestationChanges, DeviceVendor } from '../../../../test/support/client-auth/devices/device.js';
import type { AttestEnvironment } from '../../../app-directory/config/app-attest-config.js';
import { readTrustedRoots, type Trust } from '../certificates/certificate-chain.rules.js';
import { type ExpectedAttestation, verifyAttestationObject } from './attestation.rules.js';
import { attestationClientDataHash, sha256 } from './signed-data.rules.js';

const CHALLENGE = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const APP = { team_id: 'ABCDE12345', bundle_id: 'com.example.app', environments: ['production' as const] };
const REQUEST = { challenge: CHALLENGE, teamId: APP.team_id, bundleId: APP.bundle_id };
const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
const NONCE_EXTENSION = '1.2.840.113635.100.8.2';

const vendor = await DeviceVendor.create();
const device = vendor.device();
const ROOTS = readTrustedRoots(vendor.rootPem);

interface Situation extends Partial<ExpectedAttestation>, Partial<Trust> {
  readonly request?: Partial<typeof REQUEST & { environment: AttestEnvironment }>;
  readonly by?: DeviceVendor;
}

/** Verifies an attestation of the device, genuine unless changed. */
async function validate(changes: AttestationChanges = {}, situation: Situation = {}) {
  const { request, by, roots = ROOTS, atMs = NOW_MS, ...expected } = situation;
  const attested = by?.device() ?? device;
  const proof = await attested.attest({ ...REQUEST, ...request }, changes);
  return verifyAttestationObject(
    Buffer.from(proof, 'base64'),
    { app: APP, keyId: attested.keyId, clientDataHash: attestationClientDataHash(CHALLENGE), ...expected },
    { roots, atMs },
  );
}

function refusal(reason: string) {
  return expect.objectContaining({ code: 'attest_failed', status: 403, reason });
}

/** Overwrites bytes in a copy before it is certified. */
function written(offset: number, hex: string): AttestationChanges {
  return {
    authenticatorData: (bytes) => {
      const changed = Buffer.from(bytes);
      changed.write(hex, offset, 'hex');
      return changed;
    },
  };
}

function newKey(namedCurve: string): Buffer {
  return generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'der', type: 'spki' });
}

/** A copy with one bit changed. */
function flipped(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
  return changed;
}

describe('a genuine attestation', () => {
  it('→ the key that can be stored, and its environment', async () => {
    const key = await validate();
    expect(key.facts).toEqual({
      ...{ environment: 'production', category: null, bundle_version: null, full_security: null },
    });
    const stored = createPublicKey({ key: key.publicKey, format: 'der', type: 'spki', encoding: 'base64' });
    expect(stored.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  });

  it('unknown members at any level → tolerated', async () => {
    const extra = (members: Map<unknown, unknown>) => members.set('later', new Map([['more', [1, null]]])).set(7, 'x');
    await expect(validate({ members: extra, statement: extra })).resolves.toBeDefined();
  });

  it('other flags, and anything or nothing after the credential id → ignored', async () => {
    await expect(validate(written(32, 'ff'))).resolves.toBeDefined();
    await expect(validate({ authenticatorData: (bytes) => bytes.subarray(0, 87) })).resolves.toBeDefined();
    const noisy = (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 87), Buffer.alloc(500, 0xff)]);
    await expect(validate({ authenticatorData: noisy })).resolves.toBeDefined();
  });

  it('issued by one of several trusted roots → accepted', async () => {
    const other = await DeviceVendor.create();
    const roots = readTrustedRoots(`${other.rootPem}\n${vendor.rootPem}`);
    await expect(validate({}, { roots })).resolves.toBeDefined();
    await expect(validate({}, { roots, by: other })).resolves.toBeDefined();
  });
});

describe('point 1: format and statement', () => {
  const remove = (name: string) => (members: Map<unknown, unknown>) => void members.delete(name);
  const put = (name: string, value: unknown) => (members: Map<unknown, unknown>) => void members.set(name, value);

  it.each([
    ['another format', { members: put('fmt', 'packed') }, 'attestation_format_unknown'],
    ['no format', { members: remove('fmt') }, 'attestation_format_unknown'],
    ['no statement', { members: remove('attStmt') }, 'attestation_certificates_invalid'],
    ['a statement that is a list', { members: put('attStmt', []) }, 'attestation_certificates_invalid'],
    ['no certificates', { statement: remove('x5c') }, 'attestation_certificates_invalid'],
    ['one certificate', { certificates: ([leaf]) => [leaf] }, 'attestation_certificates_invalid'],
    ['three certificates', { certificates: (two) => [...two, two[1]] }, 'attestation_certificates_invalid'],
    [
      'the root as well',
      { certificates: (two) => [...two, Buffer.from(vendor.root.rawData)] },
      'attestation_certificates_invalid',
    ],
    ['a certificate as text', { certificates: ([leaf]) => [leaf, 'text'] }, 'attestation_certificates_invalid'],
    ['no receipt', { statement: remove('receipt') }, 'attestation_receipt_missing'],
    ['a receipt as text', { statement: put('receipt', 'text') }, 'attestation_receipt_missing'],
    ['no authenticator data', { members: remove('authData') }, 'authenticator_data_invalid'],
    ['authenticator data as text', { members: put('authData', 'x'.repeat(100)) }, 'authenticator_data_invalid'],
    ['86 bytes of it', { authenticatorData: (bytes) => bytes.subarray(0, 86) }, 'authenticator_data_invalid'],
    ['a byte after the object', { bytes: (cbor) => Buffer.concat([cbor, Buffer.of(0)]) }, 'cbor_invalid'],
  ] satisfies [string, AttestationChanges, string][])('%s → attest_failed', async (_, changes, reason) => {
    await expect(validate(changes)).rejects.toEqual(refusal(reason));
  });

  it('an empty receipt → present', async () => {
    await expect(validate({ statement: put('receipt', Buffer.alloc(0)) })).resolves.toBeDefined();
  });
});

describe('point 2: the certificates', () => {
  const from = NOW_MS - DAY_MS;
  const until = NOW_MS + DAY_MS;
  const seconds = (ms: number) => Math.floor(ms / 1000) * 1000;

  it('valid → from the first to the last instant', async () => {
    const leaf = { notBefore: new Date(from), notAfter: new Date(until) };
    await expect(validate({ leaf }, { atMs: seconds(from) })).resolves.toBeDefined();
    await expect(validate({ leaf }, { atMs: seconds(until) })).resolves.toBeDefined();
    const failure = refusal('certificate_not_in_force');
    await expect(validate({ leaf }, { atMs: seconds(from) - 1 })).rejects.toEqual(failure);
    await expect(validate({ leaf }, { atMs: seconds(until) + 1 })).rejects.toEqual(failure);
  });

  it('an expired intermediate → attest_failed', async () => {
    const old = await DeviceVendor.create({ intermediateNotAfter: new Date(from) });
    const situation = { by: old, roots: readTrustedRoots(old.rootPem) };
    const leaf = { notBefore: new Date(from - DAY_MS) };
    await expect(validate({ leaf }, situation)).rejects.toEqual(refusal('certificate_not_in_force'));
    await expect(validate({ leaf }, { ...situation, atMs: seconds(from) })).resolves.toBeDefined();
  });

  it('a root of the same name that is not trusted → attest_failed', async () => {
    const foreign = await DeviceVendor.create();
    await expect(validate({}, { by: foreign })).rejects.toEqual(refusal('certificate_untrusted'));
  });

  it('a trusted root of another name → attest_failed', async () => {
    const roots = ROOTS.map((root) => ({ ...root, certificate: { ...root.certificate, subject: 'CN=Other' } }));
    await expect(validate({}, { roots })).rejects.toEqual(refusal('certificate_untrusted'));
  });

  it('a leaf that the intermediate did not sign → attest_failed', async () => {
    const foreign = await DeviceVendor.create();
    for (const signedBy of [foreign.intermediateKey, vendor.rootKey]) {
      await expect(validate({ leaf: { signedBy } })).rejects.toEqual(refusal('certificate_signature_invalid'));
    }
  });

  it('signatures with a changed bit → attest_failed', async () => {
    const changed = (bytes: Buffer) => flipped(bytes, bytes.length - 1);
    const leaf: AttestationChanges = { certificates: ([a, b]) => [a && changed(a), b] };
    await expect(validate(leaf)).rejects.toEqual(refusal('certificate_signature_invalid'));
    const intermediate: AttestationChanges = { certificates: ([a, b]) => [a, b && changed(b)] };
    await expect(validate(intermediate)).rejects.toEqual(refusal('certificate_untrusted'));
  });

  it('a leaf that names another issuer, certificates in the wrong order → attest_failed', async () => {
    const failure = refusal('certificate_issuer_mismatch');
    await expect(validate({ leaf: { issuer: 'CN=Somebody Else' } })).rejects.toEqual(failure);
    await expect(validate({ certificates: ([a, b]) => [b, a] })).rejects.toEqual(failure);
    await expect(validate({ certificates: ([a]) => [a, a] })).rejects.toEqual(failure);
  });

  it('a leaf that may issue certificates, an intermediate that may not → attest_failed', async () => {
    const failure = refusal('certificate_authority_invalid');
    await expect(validate({ leaf: { isAuthority: true } })).rejects.toEqual(failure);
    const powerless = await DeviceVendor.create({ intermediateIsAuthority: false });
    const situation = { by: powerless, roots: readTrustedRoots(powerless.rootPem) };
    await expect(validate({}, situation)).rejects.toEqual(failure);
  });

  it.each([
    ['bytes that are not a certificate', () => Buffer.from('certificate')],
    ['an empty one', () => Buffer.alloc(0)],
    ['a certificate in PEM', () => Buffer.from(vendor.rootPem)],
    ['a byte after it', (bytes: Buffer) => Buffer.concat([bytes, Buffer.of(0)])],
    ['a part of it', (bytes: Buffer) => bytes.subarray(0, -1)],
  ])('%s → attest_failed', async (_, changed) => {
    const certificates: AttestationChanges['certificates'] = ([a = Buffer.alloc(0), b]) => [changed(a), b];
    await expect(validate({ certificates })).rejects.toEqual(refusal('certificate_unreadable'));
  });

  it('genuine but larger than 8 KiB → attest_failed', async () => {
    const extensions = [{ oid: '1.2.3.4', value: Buffer.alloc(8 * 1024) }];
    await expect(validate({ leaf: { extensions } })).rejects.toEqual(refusal('certificate_unreadable'));
  });

  it('no valid trusted root → service error, not a failed proof', async () => {
    const failure = expect.objectContaining({ code: 'internal_error', reason: 'attestation_root_not_in_force' });
    const old = await DeviceVendor.create({ rootNotAfter: new Date(from) });
    const roots = readTrustedRoots(old.rootPem);
    await expect(validate({}, { roots, by: old })).rejects.toEqual(failure);
    await expect(validate({}, { roots: [...roots, ...ROOTS], by: old })).rejects.toEqual(
      refusal('certificate_untrusted'),
    );
  });
});

describe('point 3: the nonce', () => {
  it('made for another challenge → attest_failed', async () => {
    const clientDataHash = attestationClientDataHash('BBECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8');
    await expect(validate({ clientDataHash })).rejects.toEqual(refusal('nonce_mismatch'));
  });

  it('made from the text of the challenge, or from its bytes without hashing → attest_failed', async () => {
    for (const clientDataHash of [Buffer.from(CHALLENGE), Buffer.from(CHALLENGE, 'base64url')]) {
      await expect(validate({ clientDataHash })).rejects.toEqual(refusal('nonce_mismatch'));
    }
  });

  it('made for other authenticator data → attest_failed', async () => {
    const members: AttestationChanges['members'] = (map) => {
      const certified = map.get('authData');
      if (Buffer.isBuffer(certified)) certified.writeUInt8(0x41, 32);
    };
    await expect(validate({ members })).rejects.toEqual(refusal('nonce_mismatch'));
  });

  it('wrapped differently → found', async () => {
    const nonceExtension = (value: Buffer) => Buffer.concat([Buffer.from('3022', 'hex'), value.subarray(4)]);
    await expect(validate({ leaf: { nonceExtension } })).resolves.toBeDefined();
  });

  it.each([
    ['no extension', () => null],
    ['an empty one', () => Buffer.alloc(0)],
    ['one that is not DER', (value: Buffer) => value.subarray(0, -1)],
    ['two octet strings', (value: Buffer) => Buffer.concat([value, Buffer.from('0400', 'hex')])],
  ])('%s → attest_failed', async (_, nonceExtension) => {
    await expect(validate({ leaf: { nonceExtension } })).rejects.toEqual(refusal('nonce_missing'));
  });

  it('only part of it → attest_failed', async () => {
    const nonceExtension = (value: Buffer) => Buffer.concat([Buffer.from('0410', 'hex'), value.subarray(6, 22)]);
    await expect(validate({ leaf: { nonceExtension } })).rejects.toEqual(refusal('nonce_mismatch'));
  });

  it('the extension twice → attest_failed', async () => {
    const extensions = [{ oid: NONCE_EXTENSION, value: Buffer.from('0400', 'hex') }];
    await expect(validate({ leaf: { extensions } })).rejects.toEqual(refusal('nonce_missing'));
  });
});

describe('point 4: the key id is the hash of the certified key', () => {
  it('another key certified → attest_failed', async () => {
    const publicKey = newKey('P-256');
    await expect(validate({ leaf: { publicKey } })).rejects.toEqual(refusal('key_id_mismatch'));
  });

  it('a key of another curve → attest_failed', async () => {
    const publicKey = newKey('P-384');
    await expect(validate({ leaf: { publicKey } })).rejects.toEqual(refusal('public_key_unusable'));
  });

  it('a point that is not on its curve → attest_failed', async () => {
    const publicKey = flipped(newKey('P-256'), 90);
    const credential = sha256(publicKey.subarray(26));
    const situation = { keyId: credential.toString('base64') };
    const changes = { ...written(55, credential.toString('hex')), leaf: { publicKey } };
    await expect(validate(changes, situation)).rejects.toEqual(refusal('public_key_unusable'));
  });

  it('another spelling of the same key id → attest_failed', async () => {
    const unpadded = device.keyId.replace('=', '');
    await expect(validate({}, { keyId: unpadded })).rejects.toEqual(refusal('credential_id_mismatch'));
  });
});

describe('points 5 and 6: the authenticator data', () => {
  it.each([
    ['another application', 'app_mismatch', {}, { request: { bundleId: 'com.example.other' } }],
    ['a counter', 'counter_not_zero', written(33, '00000001'), {}],
    ['another credential', 'credential_id_mismatch', { authenticatorData: (bytes) => flipped(bytes, 86) }, {}],
    ['an environment not taken', 'environment_not_allowed', {}, { request: { environment: 'development' } }],
    ['no environment', 'environment_unknown', written(37, '00'), {}],
  ] satisfies [string, string, AttestationChanges, Situation][])(
    '%s, certified → attest_failed',
    async (_, reason, changes, situation) => {
      await expect(validate(changes, situation)).rejects.toEqual(refusal(reason));
    },
  );

  it('a development key that the application allows → its environment is returned', async () => {
    const app = { ...APP, environments: ['production' as const, 'development' as const] };
    const key = await validate({}, { app, request: { environment: 'development' } });
    expect(key.facts.environment).toBe('development');
  });
});
