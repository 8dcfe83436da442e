import { describe, expect, it } from '@jest/globals';
import { rawDeviceConfig, rawServerConfig } from '../../../test/support/apps/app-configs.js';
import {
  keyAttestation,
  PACKAGE_NAME,
  SIGNING_CERTIFICATE,
} from '../../../test/support/client-auth/devices/android.js';
import { parseAppConfig } from '../../app-directory/config/app-config.js';
import { type AdmittedAttempts, enforced, lostBy, refusalOf } from './enforcement-preview.rules.js';

const APPLE = { team_id: 'ABCDE12345', bundle_id: 'com.example.app' };
const ANDROID_FACTS = {
  ...{ package_name: PACKAGE_NAME, version_code: 42, signing_certificates: [SIGNING_CERTIFICATE] },
  ...{ security_level: 'tee', boot: 'verified', os_patch: 202_511, provisioning: 'remote', certificates_issued: null },
};
const APPLE_FACTS = { environment: 'production', category: 4, bundle_version: '2.10', full_security: null };
const PLAY_FACTS = {
  ...{ package_name: PACKAGE_NAME, recognition: 'PLAY_RECOGNIZED', certificates: [], version_code: 42 },
  ...{ device_verdicts: ['MEETS_DEVICE_INTEGRITY'], licensing: 'LICENSED', is_test: false },
};
const FAILED = { outcome: 'would_reject', reason: 'signature_invalid' } as const;

function attempt(changes: Partial<AdmittedAttempts> = {}): AdmittedAttempts {
  const ok = { day: '2026-11-20', outcome: 'ok', reason: null, appVersion: '2', facts: null, attempts: 1 } as const;
  return { ...ok, proof: 'key_attestation', ...changes };
}

function proving(proofs: object, members: object = {}) {
  const authentication = { type: 'device_proofs', end_user: { source: 'app_install' }, proofs, ...members };
  const config = parseAppConfig({ ...rawServerConfig(), authentication });
  if (config.authentication.type !== 'device_proofs') throw new TypeError('not proofs');
  return config.authentication;
}

const android = (policy: Readonly<Record<string, unknown>> = {}) =>
  proving({ key_attestation: keyAttestation(policy) });

const play = () =>
  proving({
    play_integrity: { package_name: PACKAGE_NAME, require: ['MEETS_DEVICE_INTEGRITY'], decode: 'local' },
  });

describe('what a configuration would refuse', () => {
  it.each<[string, Partial<AdmittedAttempts>, ReturnType<typeof proving>, string | undefined]>([
    ['proven', {}, android(), undefined],
    ['failed, enforced', FAILED, android(), 'signature_invalid'],
    ['failed, observed', FAILED, android({ mode: 'observe' }), undefined],
    ['failed, with limits', FAILED, android({ mode: 'tier' }), undefined],
    [
      'an old patch',
      { facts: { ...ANDROID_FACTS, os_patch: 202_510 } },
      android({ min_os_patch: 202_511 }),
      'os_patch_too_old',
    ],
    ['a patch that suffices', { facts: ANDROID_FACTS }, android({ min_os_patch: 202_511 }), undefined],
    [
      'a patch that was too old, and suffices by now',
      { outcome: 'would_reject', reason: 'os_patch_too_old', facts: ANDROID_FACTS },
      android({ min_os_patch: 202_511 }),
      undefined,
    ],
    [
      'a package that was refused before there were facts',
      { outcome: 'would_reject', reason: 'package_not_allowed' },
      android(),
      'package_not_allowed',
    ],
    ['a flaw beside facts that suffice', { ...FAILED, facts: ANDROID_FACTS }, android(), 'signature_invalid'],
    [
      'an old version code, which no mode admits',
      { facts: ANDROID_FACTS },
      android({ min_version_code: 43, mode: 'observe' }),
      'version_code_too_low',
    ],
    ['an unknown key of whatever proof', { ...FAILED, proof: null }, android(), 'signature_invalid'],
    ['an unknown key, observed', { ...FAILED, proof: null }, android({ mode: 'observe' }), undefined],
    ['a proof that is not taken', {}, proving({ app_attest: APPLE }), 'proof_not_configured'],
    [
      'an unknown key, no proof signs',
      { ...FAILED, proof: null },
      proving({ app_attest: APPLE }),
      'proof_not_configured',
    ],
    [
      'another category',
      { proof: 'app_attest', facts: APPLE_FACTS },
      proving({ app_attest: { ...APPLE, allowed_categories: [2] } }),
      'category_not_allowed',
    ],
    [
      'a claimed version',
      {},
      proving({ key_attestation: keyAttestation() }, { min_app_version: '2.1' }),
      'app_version_too_low',
    ],
    [
      'a client of the framework, which claims none',
      { appVersion: null, proof: 'app_attest', facts: { ...APPLE_FACTS, framework_client: true } },
      proving({ app_attest: APPLE }, { min_app_version: '2.1' }),
      undefined,
    ],
    [
      'a flaw of a client of the framework that said nothing',
      { ...FAILED, appVersion: null, proof: 'app_attest', facts: { framework_client: true } },
      proving({ app_attest: APPLE }, { min_app_version: '2.1' }),
      'signature_invalid',
    ],
    [
      'a package of before, which is allowed again',
      { outcome: 'would_reject', reason: 'integrity_package_mismatch', proof: 'play_integrity', facts: PLAY_FACTS },
      play(),
      undefined,
    ],
    [
      'a token for another package',
      { outcome: 'would_reject', reason: 'integrity_package_mismatch', proof: 'play_integrity' },
      play(),
      'integrity_package_mismatch',
    ],
    [
      'a key of another proof, whatever its facts',
      { outcome: 'would_reject', reason: 'key_of_other_proof', facts: { ...PLAY_FACTS, licensing: null } },
      proving({ ...play().proofs, key_attestation: keyAttestation() }),
      'key_of_other_proof',
    ],
    ['facts that cannot be read', { facts: { surprising: true } }, android({ min_os_patch: 202_511 }), undefined],
  ])('%s → %4$s', (_, changes, authentication, reason) => {
    expect(refusalOf(attempt(changes), authentication)).toBe(reason);
  });

  it('each proof is enforced; App Attest alone is treated like one of several; no proofs without devices', () => {
    const lax = proving({
      app_attest: { ...APPLE, mode: 'tier' },
      key_attestation: keyAttestation({ mode: 'observe' }),
    });
    expect(enforced(lax)).toMatchObject({
      proofs: { app_attest: { ...APPLE, mode: 'enforce' }, key_attestation: { mode: 'enforce' } },
    });
    expect(enforced(parseAppConfig(rawDeviceConfig()).authentication)).toMatchObject({
      ...{ type: 'device_proofs', proofs: { app_attest: { ...APPLE, mode: 'enforce' } } },
    });
    expect(enforced(parseAppConfig(rawServerConfig()).authentication)).toBeUndefined();
  });

  it('attempts that would fail → summed, largest first', () => {
    const lost = {
      proof: 'app_attest',
      reason: 'key_unknown',
      day: '2026-11-20',
      appVersion: null,
      attempts: 2,
    } as const;
    expect(lostBy([lost, { ...lost, attempts: 3, day: '2026-11-21' }, { ...lost, attempts: 4 }])).toEqual([
      { ...lost, attempts: 6 },
      { ...lost, attempts: 3, day: '2026-11-21' },
    ]);
  });
});
