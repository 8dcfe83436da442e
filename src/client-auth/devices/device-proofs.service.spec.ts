import { describe, expect, it } from '@jest/globals';
import { DeviceVendor } from '../../../test/support/client-auth/devices/device.js';
import { FakeClock } from '../../../test/support/clock.js';
import { AttestationRoots } from './attestation-roots.js';
import { readTrustedRoots } from './certificates/certificate-chain.rules.js';
import { DeviceProofs } from './device-proofs.service.js';
import { assertionClientDataHash } from './proof/signed-data.rules.js';

const CHALLENGE = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const APP_ID = 'example-app-a1b2c3';
const APP = { team_id: 'ABCDE12345', bundle_id: 'com.example.app', environments: ['production' as const] };
const REQUEST = { appId: APP_ID, challenge: CHALLENGE, teamId: APP.team_id, bundleId: APP.bundle_id };
const WEEK_MS = 7 * 86_400_000;

const vendor = await DeviceVendor.create();

function newProofs(clock = new FakeClock()): DeviceProofs {
  return new DeviceProofs(new AttestationRoots(readTrustedRoots(vendor.rootPem)), clock);
}

function setUp(proofs = newProofs(), databaseClock = new FakeClock()) {
  const device = vendor.device();
  const register = async (change = (sent: string) => sent) => {
    const attestation = change(await device.attest(REQUEST));
    const about = { appAttest: APP, keyId: device.keyId, challenge: CHALLENGE, spentAt: databaseClock.now() };
    return proofs.verifyAttestation({ ...about, attestation });
  };
  const exchange = (publicKey: string, counter: number, assertion = device.assert(REQUEST)) => {
    const clientDataHash = assertionClientDataHash({ appId: APP_ID, keyId: device.keyId, challenge: CHALLENGE });
    return proofs.verifyAssertion({ appAttest: APP, clientDataHash, assertion, publicKey, counter }).counter;
  };
  return { device, proofs, register, exchange };
}

function refusal(reason: string) {
  return expect.objectContaining({ code: 'attest_failed', reason });
}

describe('DeviceProofs', () => {
  it('a device that registers and exchanges → proven, with rising counters', async () => {
    const { register, exchange } = setUp();
    const { publicKey, facts } = await register();
    expect(facts.environment).toBe('production');
    expect([exchange(publicKey, 0), exchange(publicKey, 1), exchange(publicKey, 2)]).toEqual([1, 2, 3]);
  });

  it('the same assertion twice → the second is refused', async () => {
    const { register, exchange, device } = setUp();
    const { publicKey } = await register();
    const assertion = device.assert(REQUEST);
    const counter = exchange(publicKey, 0, assertion);
    expect(() => exchange(publicKey, counter, assertion)).toThrow(refusal('counter_not_greater'));
  });

  it('base64url without padding → accepted', async () => {
    const { register, exchange, device } = setUp();
    const url = (sent: string) => Buffer.from(sent, 'base64').toString('base64url');
    const { publicKey } = await register(url);
    expect(exchange(publicKey, 0, url(device.assert(REQUEST)))).toBe(1);
  });

  it.each([
    ['', 'proof_not_base64'],
    ['%%%', 'proof_not_base64'],
    ['AAAA', 'cbor_invalid'],
    ['A'.repeat(50_000), 'proof_too_large'],
  ])('%.5j as a proof → attest_failed', async (sent, reason) => {
    const { register, exchange } = setUp();
    const { publicKey } = await register();
    await expect(register(() => sent)).rejects.toEqual(refusal(reason));
    expect(() => exchange(publicKey, 0, sent)).toThrow(refusal(reason));
  });

  it('certificates are verified against the injected clock → expired a week later', async () => {
    const clock = new FakeClock();
    const { register } = setUp(newProofs(clock), clock);
    clock.advance(WEEK_MS);
    await expect(register()).rejects.toEqual(refusal('certificate_not_in_force'));
  });

  it.each([-1, 1])('a clock that is %i weeks off the database’s → service error, not a failed proof', async (weeks) => {
    const clock = new FakeClock();
    const { register } = setUp(newProofs(clock));
    clock.advance(weeks * WEEK_MS);
    const failure = expect.objectContaining({ code: 'internal_error', reason: 'clocks_disagree' });
    await expect(register()).rejects.toEqual(failure);
    await expect(register(() => 'AAAA')).rejects.toEqual(refusal('cbor_invalid'));
  });

  it('clocks a week apart, and all certificates are valid by the service’s clock → accepted', async () => {
    const databaseClock = new FakeClock();
    databaseClock.advance(WEEK_MS);
    await expect(setUp(newProofs(), databaseClock).register()).resolves.toBeDefined();
  });

  it.each([-5_000, 5_000])(
    'a clock that is %i weeks off, so that the root is not valid either → service error',
    async (weeks) => {
      const clock = new FakeClock();
      const { register } = setUp(newProofs(clock));
      clock.advance(weeks * WEEK_MS);
      const failure = expect.objectContaining({ code: 'internal_error', reason: 'attestation_root_not_in_force' });
      await expect(register()).rejects.toEqual(failure);
    },
  );

  it('two devices → each is proven only by its own key, also when both keys are in memory', async () => {
    const first = setUp();
    const second = setUp(first.proofs);
    const [firstKey, secondKey] = [await first.register(), await second.register()];
    for (const before of [0, 1]) {
      expect(first.exchange(firstKey.publicKey, before)).toBe(before + 1);
      expect(second.exchange(secondKey.publicKey, before)).toBe(before + 1);
    }
    expect(() => second.exchange(firstKey.publicKey, 2)).toThrow(refusal('signature_invalid'));
    expect(() => first.exchange(secondKey.publicKey, 2)).toThrow(refusal('signature_invalid'));
  });

  it('a stored key that cannot be read → service error, not a failed proof', () => {
    const { exchange } = setUp();
    expect(() => exchange('AAAA', 0)).toThrow(expect.not.objectContaining({ code: 'attest_failed' }));
  });
});
