import { createSecretKey } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mutatedBytes } from '../../../../test/proof/parsers/mutated-bytes.js';
import { PACKAGE_NAME } from '../../../../test/support/client-auth/devices/android.js';
import {
  always,
  checked,
  FUZZ_RUNS,
  FUZZ_TIMEOUT_MS,
  noise,
} from '../../../../test/support/client-auth/devices/hostile-proofs.js';
import { genuinePayload, PlayVendor } from '../../../../test/support/client-auth/devices/play.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { decodeIntegrityToken } from './integrity-token.rules.js';
import { verifyIntegrityPayload } from './integrity-verdict.rules.js';

const HASH = Buffer.alloc(32, 7).toString('base64url');
const AT = Date.parse('2026-11-01T00:00:00Z');
const vendor = new PlayVendor();
const keys = { decryption: createSecretKey(vendor.decryption), verification: vendor.signing.publicKey };
const token = await vendor.token(HASH, AT);
const meant = genuinePayload(HASH, AT);
const policy = {
  ...{
    package_name: PACKAGE_NAME,
    require: ['MEETS_DEVICE_INTEGRITY' as const],
    decode: 'local' as const,
    mode: 'enforce' as const,
  },
  ...{ allow_unrecognized: false, allow_unlicensed: false, allow_testing: false },
};
const expected = { policy, requestHash: HASH, spentAtMs: AT };

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

describe('hostile integrity tokens: quickly refused as attest_failed, or accepted as what they are', () => {
  it(
    'a token → only what the vendor encrypted and signed',
    async () => {
      const [, ...parts]: Buffer[] = token.split('.').map((part) => Buffer.from(part, 'base64url'));
      const header = token.slice(0, token.indexOf('.'));
      const mutant = fc.oneof(
        mutatedBytes(Buffer.from(token)).map((bytes) => bytes.toString('latin1')),
        fc
          .integer({ min: 0, max: parts.length - 1 })
          .chain((place) =>
            mutatedBytes(parts[place] ?? Buffer.alloc(0)).map((bytes) =>
              [header, ...parts.with(place, bytes).map((part) => part.toString('base64url'))].join('.'),
            ),
          ),
      );
      await fc.assert(
        fc.asyncProperty(mutant, async (sent) => {
          const payload = await decodeIntegrityToken(sent, keys).catch((error: unknown) => {
            if (!(error instanceof GatewayError) || error.code !== 'attest_failed') throw error;
            return meant;
          });
          expect(payload).toEqual(meant);
        }),
        { numRuns: FUZZ_RUNS },
      );
    },
    FUZZ_TIMEOUT_MS,
  );

  it(
    'a payload → accepted only for this registration, with exactly its verdicts',
    () => {
      always(fc.oneof(noise, mutatedBytes(Buffer.from(JSON.stringify(meant)))), (bytes) => {
        const payload = parsed(bytes);
        const facts = checked(() => verifyIntegrityPayload(payload, expected));
        if (facts === undefined) return;
        expect(payload).toMatchObject({
          requestDetails: { requestPackageName: PACKAGE_NAME, requestHash: HASH },
          appIntegrity: { appRecognitionVerdict: 'PLAY_RECOGNIZED' },
          deviceIntegrity: { deviceRecognitionVerdict: expect.arrayContaining(['MEETS_DEVICE_INTEGRITY']) },
          accountDetails: { appLicensingVerdict: 'LICENSED' },
        });
      });
    },
    FUZZ_TIMEOUT_MS,
  );

  it.each([
    ['deep lists', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
    ['a million members', `{"appIntegrity":{${Array.from({ length: 100_000 }, (_, i) => `"a${i}":1`).join(',')}}}`],
    ['a long list', `{"deviceIntegrity":{"deviceRecognitionVerdict":[${Array(200_000).fill('"A"').join(',')}]}}`],
    ['one MiB of text', JSON.stringify({ requestDetails: { requestHash: 'A'.repeat(1024 * 1024) } })],
  ])('%s → refused quickly', (_, text) => {
    const payload: unknown = JSON.parse(text);
    expect(checked(() => verifyIntegrityPayload(payload, expected))).toBeUndefined();
  });
});
