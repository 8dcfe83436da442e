import { createPublicKey } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { decode } from 'cbor2';
import fc from 'fast-check';
import { mutatedBytes } from '../../../test/proof/parsers/mutated-bytes.js';
import { DeviceVendor, withSignals } from '../../../test/support/client-auth/devices/device.js';
import {
  always,
  checked,
  FUZZ_RUNS,
  FUZZ_TIMEOUT_MS,
  noise,
} from '../../../test/support/client-auth/devices/hostile-proofs.js';
import { readTrustedRoots, requireChain, requireTrustedSignatures } from './certificates/certificate-chain.rules.js';
import { verifyAssertionObject } from './proof/assertion.rules.js';
import { verifyAttestationObject } from './proof/attestation.rules.js';
import { decodeBase64, readCborMap } from './proof/encoding.rules.js';
import { assertedSignals, attestedSignals, fullSecurityOf } from './proof/signals.rules.js';
import { assertionClientDataHash, attestationClientDataHash, requireFreshKey } from './proof/signed-data.rules.js';

const CHALLENGE = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const APP_ID = 'example-app-a1b2c3';
const APP = { team_id: 'ABCDE12345', bundle_id: 'com.example.app', environments: ['production' as const] };
const REQUEST = { appId: APP_ID, challenge: CHALLENGE, teamId: APP.team_id, bundleId: APP.bundle_id };

const vendor = await DeviceVendor.create();
const device = vendor.device();
const trust = { roots: readTrustedRoots(vendor.rootPem), atMs: Date.now() };
const about = { app: APP, keyId: device.keyId, clientDataHash: attestationClientDataHash(CHALLENGE) };
const attestation = Buffer.from(await device.attest(REQUEST), 'base64');
const assertion = Buffer.from(device.assert(REQUEST), 'base64');
const publicKey = createPublicKey({
  key: Buffer.from(verifyAttestationObject(attestation, about, trust).publicKey, 'base64'),
  format: 'der',
  type: 'spki',
});

/** The relevant members, read by the library alone. */
function meaning(cbor: Buffer, names: readonly string[]): unknown[] {
  const members = decode<Map<string, unknown>>(cbor, { preferMap: true, ignoreGlobalTags: true });
  return names.map((name) => members.get(name));
}

/** Of their types, and storable. */
function expectSignals(signals: ReturnType<typeof assertedSignals> | undefined): void {
  if (signals === undefined) throw new TypeError('signals refuse nothing');
  const { category, bundle_version: version } = signals;
  const isCategory = category === null || (Number.isInteger(category) && category >= 0 && category < 2 ** 32);
  const isVersion = version === null || (version.length <= 128 && version.isWellFormed() && !version.includes('\0'));
  if (!isCategory || !isVersion) throw new TypeError(JSON.stringify(signals));
}

function certificatesOf(cbor: Buffer): unknown {
  const [statement] = meaning(cbor, ['attStmt']);
  return statement instanceof Map ? statement.get('x5c') : undefined;
}

describe('hostile proofs: quickly refused as attest_failed, or accepted as what they are', () => {
  it(
    'base64 → never decoded to other bytes',
    () => {
      const text = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: fc.constantFrom(...'AQgwz09+/-_= \n') }),
        noise.map((bytes) => bytes.toString('base64')),
      );
      fc.assert(
        fc.property(text, (sent) => {
          const bytes = checked(() => decodeBase64(sent, 300));
          if (bytes === undefined) return;
          expect(bytes.toString('base64').replace(/=+$/, '').length).toBe(sent.replace(/=+$/, '').length);
          expect(bytes).toEqual(Buffer.from(sent, 'base64url'));
        }),
        { numRuns: FUZZ_RUNS },
      );
    },
    FUZZ_TIMEOUT_MS,
  );

  it(
    'CBOR → a map or a refusal',
    () => {
      always(fc.oneof(noise, mutatedBytes(attestation), mutatedBytes(assertion)), (bytes) => {
        const map = checked(() => readCborMap(bytes));
        if (map !== undefined) expect(map.size).toBeLessThanOrEqual(bytes.length);
      });
    },
    FUZZ_TIMEOUT_MS,
  );

  it(
    'authenticator data → accepted only from this application and this key, and only if fresh',
    () => {
      const genuine = meaning(attestation, ['authData'])[0];
      if (!(genuine instanceof Uint8Array)) throw new TypeError('authData');
      const meant = Buffer.from(genuine);
      always(fc.oneof(noise, mutatedBytes(meant)), (bytes) => {
        if (checked(() => requireFreshKey(bytes, APP, device.keyId)) === undefined) return;
        expect(bytes.subarray(0, 32)).toEqual(meant.subarray(0, 32));
        expect(bytes.subarray(33, 87)).toEqual(meant.subarray(33, 87));
      });
    },
    FUZZ_TIMEOUT_MS,
  );

  it.each(['leaf', 'intermediate'] as const)(
    '%s → only the bytes that were certified',
    (which) => {
      const chain = certificatesOf(attestation);
      if (!Array.isArray(chain)) throw new TypeError('x5c');
      const [leaf, intermediate] = chain.map((der: Uint8Array) => Buffer.from(der));
      if (leaf === undefined || intermediate === undefined) throw new TypeError('x5c');
      const meant = which === 'leaf' ? leaf : intermediate;
      always(fc.oneof(noise, mutatedBytes(meant)), (bytes) => {
        const sent = which === 'leaf' ? { leaf: bytes, intermediate } : { leaf, intermediate: bytes };
        const trusted = checked(() => {
          requireTrustedSignatures(requireChain(sent.leaf, sent.intermediate, trust.atMs), trust.roots);
          return true;
        });
        if (trusted) expect(bytes).toEqual(meant);
      });
    },
    FUZZ_TIMEOUT_MS,
  );

  it(
    'attestation → accepted only with the certified members',
    () => {
      const meant = [...meaning(attestation, ['fmt', 'authData']), certificatesOf(attestation)];
      always(mutatedBytes(attestation), (bytes) => {
        const key = checked(() => verifyAttestationObject(bytes, about, trust));
        if (key === undefined) return;
        expect([...meaning(bytes, ['fmt', 'authData']), certificatesOf(bytes)]).toEqual(meant);
      });
    },
    FUZZ_TIMEOUT_MS,
  );

  it(
    'assertion → accepted only with the signed members',
    () => {
      const clientDataHash = assertionClientDataHash({ appId: APP_ID, challenge: CHALLENGE, keyId: device.keyId });
      const meant = meaning(assertion, ['signature', 'authenticatorData']);
      always(fc.oneof(noise, mutatedBytes(assertion)), (bytes) => {
        const accepted = checked(() =>
          verifyAssertionObject(bytes, { app: APP, clientDataHash, publicKey, counter: 0 }),
        );
        if (accepted === undefined) return;
        expect(meaning(bytes, ['signature', 'authenticatorData'])).toEqual(meant);
        expect(accepted.counter).toBe(1);
      });
    },
    FUZZ_TIMEOUT_MS,
  );

  it(
    'signals → the content of the map, or none; never a refusal',
    () => {
      const signed = { category: 4, version: '2.10' };
      const attested = withSignals(signed)(Buffer.alloc(100));
      const asserted = withSignals(signed)(Buffer.alloc(37));
      const map = asserted.subarray(37);
      const tails = fc.oneof(noise, mutatedBytes(map));
      always(fc.oneof(noise, mutatedBytes(attested), mutatedBytes(asserted)), (bytes) => {
        for (const read of [attestedSignals, assertedSignals]) expectSignals(checked(() => read(bytes)));
      });
      always(tails, (tail) => {
        const signals = checked(() => assertedSignals(Buffer.concat([Buffer.alloc(37), tail])));
        expectSignals(signals);
        if (signals?.category != null || signals?.bundle_version != null) {
          expect(decode<Map<string, unknown>>(tail, { preferMap: true, ignoreGlobalTags: true })).toBeInstanceOf(Map);
        }
      });
    },
    FUZZ_TIMEOUT_MS,
  );

  it(
    'the leaf of a Mac → true, false or nothing',
    () => {
      const [leaf] = certificatesOf(attestation) as Uint8Array[];
      always(fc.oneof(noise, mutatedBytes(Buffer.from(leaf ?? []))), (bytes) => {
        expect([true, false, null]).toContain(checked(() => fullSecurityOf(bytes)));
      });
    },
    FUZZ_TIMEOUT_MS,
  );

  it.each([
    ['16 KiB of zeros', Buffer.concat([Buffer.from('a161619a00003ff0', 'hex'), Buffer.alloc(0x3ff0)])],
    ['16 KiB of empty maps', Buffer.concat([Buffer.from('a161619a00003ff0', 'hex'), Buffer.alloc(0x3ff0, 0xa0)])],
    [
      '16 KiB in keys of keys',
      Buffer.concat([Buffer.alloc(10, 0xa1), Buffer.from('9a00003f80', 'hex'), Buffer.alloc(0x3f80)]),
    ],
    ['16 KiB of tags', Buffer.alloc(0x4000, 0xc1)],
    ['16 KiB of arrays', Buffer.alloc(0x4000, 0x81)],
  ])('%s → judged quickly', (_, bytes) => {
    checked(() => readCborMap(bytes));
  });

  it.each([
    ['8 KiB of nothings', Buffer.from(`30821ffc${'0500'.repeat(4_094)}`, 'hex')],
    ['8 KiB of empty sequences', Buffer.from(`30821ffc${'3000'.repeat(4_094)}`, 'hex')],
    ['8 KiB of open ends', Buffer.from('3080'.repeat(4_096), 'hex')],
  ])('%s in place of a certificate → refused quickly', (_, bytes) => {
    expect(checked(() => requireChain(bytes, bytes, trust.atMs))).toBeUndefined();
  });
});
