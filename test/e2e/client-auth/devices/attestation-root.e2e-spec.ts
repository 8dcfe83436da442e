import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { DeviceProofs } from '../../../../src/client-auth/devices/device-proofs.service.js';
import { EnvironmentError } from '../../../../src/platform/config/environment.js';
import { DeviceVendor } from '../../../support/client-auth/devices/device.js';
import { rejectionOf } from '../../../support/rejection-of.js';
import { startWorld } from '../../../support/world.js';

const CHALLENGE = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const APP = { team_id: 'ABCDE12345', bundle_id: 'com.example.app', environments: ['production' as const] };

const directory = mkdtempSync(join(tmpdir(), 'gateway-attestation-root-'));

afterAll(() => rmSync(directory, { recursive: true }));

describe('APP_ATTEST_ROOT_CA_FILE', () => {
  it('a file with another root → devices of that vendor are accepted, and the start logs it once', async () => {
    const vendor = await DeviceVendor.create();
    const device = vendor.device();
    const file = join(directory, 'root.pem');
    writeFileSync(file, vendor.rootPem);
    const world = await startWorld({ env: { APP_ATTEST_ROOT_CA_FILE: file } });
    try {
      const request = { challenge: CHALLENGE, teamId: APP.team_id, bundleId: APP.bundle_id };
      const sent = { appAttest: APP, keyId: device.keyId, challenge: CHALLENGE, spentAt: new Date() };
      const proofs = world.gateway.app.get(DeviceProofs, { strict: false });
      const attestation = await device.attest(request);
      await expect(proofs.verifyAttestation({ ...sent, attestation })).resolves.toBeDefined();
      const lines = world.logs.filter(({ message }) => message === 'app_attest_root_replaced');
      expect(lines).toEqual([expect.objectContaining({ file, subjects: vendor.root.subject })]);
    } finally {
      await world.stop();
    }
  });

  it('no such file → the service refuses to start and names the variable', async () => {
    const file = join(directory, 'missing.pem');
    const failure = await rejectionOf(startWorld({ env: { APP_ATTEST_ROOT_CA_FILE: file } }));
    expect(failure).toBeInstanceOf(EnvironmentError);
    expect(failure).toEqual(expect.objectContaining({ message: expect.stringMatching(/^APP_ATTEST_ROOT_CA_FILE /) }));
  });
});
