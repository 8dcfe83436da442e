import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mutatedBytes } from '../../../../test/proof/parsers/mutated-bytes.js';
import {
  AndroidVendor,
  PACKAGE_NAME,
  SIGNING_CERTIFICATE,
} from '../../../../test/support/client-auth/devices/android.js';
import {
  always,
  checked,
  FUZZ_TIMEOUT_MS,
  noise,
} from '../../../../test/support/client-auth/devices/hostile-proofs.js';
import { readAndroidChain } from './android-chain.rules.js';
import { readAndroidRoots } from './android-roots.js';
import { verifyKeyAttestation } from './key-attestation.rules.js';
import { readApplication, readKeyDescription } from './key-description.rules.js';

const CHALLENGE = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const vendor = new AndroidVendor();
const device = vendor.device();
const chain = device.chain(CHALLENGE);
const { attestation } = readAndroidChain(chain);
const applicationId = readKeyDescription(attestation).applicationId ?? Buffer.alloc(0);
const roots = readAndroidRoots(vendor.rootPem);
const expected = {
  policy: {
    ...{ package_names: [PACKAGE_NAME], signing_certificates: [SIGNING_CERTIFICATE], verified_boot: true },
    ...{ min_security_level: 'tee' as const, provisioning: 'any' as const, mode: 'enforce' as const },
  },
  keyId: device.keyId,
  challenge: Buffer.from(CHALLENGE, 'base64url'),
};
const trust = { revoked: new Set<string>(), roots, atMs: Date.parse('2026-11-01T00:00:00Z') };

describe('hostile chains: quickly refused as attest_failed, or accepted as what they are', () => {
  it(
    'the description of a key → a description or a refusal',
    () => {
      always(fc.oneof(noise, mutatedBytes(attestation)), (bytes) => {
        const description = checked(() => readKeyDescription(bytes));
        if (description !== undefined) expect(description.challenge.length).toBeLessThanOrEqual(bytes.length);
      });
    },
    FUZZ_TIMEOUT_MS,
  );

  it(
    'the id of an application → packages and digests or a refusal',
    () => {
      always(fc.oneof(noise, mutatedBytes(applicationId)), (bytes) => {
        const application = checked(() => readApplication(bytes));
        if (application !== undefined) expect(application.packages.length).toBeLessThanOrEqual(bytes.length);
      });
    },
    FUZZ_TIMEOUT_MS,
  );

  it.each([0, 1, 2])(
    'certificate %i → only the bytes that were certified',
    (place) => {
      const meant = chain[place] ?? Buffer.alloc(0);
      always(fc.oneof(noise, mutatedBytes(meant)), (bytes) => {
        const key = checked(() => verifyKeyAttestation(readAndroidChain(chain.with(place, bytes)), expected, trust));
        if (key !== undefined) expect(bytes).toEqual(meant);
      });
    },
    FUZZ_TIMEOUT_MS,
  );

  it(
    'the root → only its own key',
    () => {
      const meant = chain.at(-1) ?? Buffer.alloc(0);
      const { publicKey } = readAndroidChain(chain).root;
      always(fc.oneof(noise, mutatedBytes(meant)), (bytes) => {
        const key = checked(() => verifyKeyAttestation(readAndroidChain(chain.with(-1, bytes)), expected, trust));
        if (key !== undefined) expect(bytes.includes(publicKey)).toBe(true);
      });
    },
    FUZZ_TIMEOUT_MS,
  );

  it.each([
    ['16 KiB of nothings', Buffer.from(`30823ffc${'0500'.repeat(8_190)}`, 'hex')],
    ['16 KiB of empty sequences', Buffer.from(`30823ffc${'3000'.repeat(8_190)}`, 'hex')],
    ['16 KiB of long tags', Buffer.from(`30823ffc${'bf8553'.repeat(5_460)}`, 'hex')],
    ['16 KiB of endless tags', Buffer.alloc(0x4000, 0xbf)],
  ])('ten times %s → refused quickly', (_, bytes) => {
    expect(
      checked(() => verifyKeyAttestation(readAndroidChain(Array(10).fill(bytes)), expected, trust)),
    ).toBeUndefined();
    expect(checked(() => readKeyDescription(bytes))).toBeUndefined();
    expect(checked(() => readApplication(bytes))).toBeUndefined();
  });
});
