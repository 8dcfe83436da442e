import { describe, expect, it } from '@jest/globals';
import { rawServerConfig } from '../../../test/support/apps/app-configs.js';
import { keyAttestation } from '../../../test/support/client-auth/devices/android.js';
import { parseAppConfig } from './app-config.js';
import { proofWarnings } from './proof-warnings.rules.js';

const APPLE = { team_id: 'ABCDE12345', bundle_id: 'com.example.app' };

function warningsOf(proofs: object): string[] {
  const authentication = { type: 'device_proofs', end_user: { source: 'app_install' }, proofs };
  return proofWarnings(parseAppConfig({ ...rawServerConfig(), authentication }).authentication);
}

describe('warnings of proofs', () => {
  it.each([
    ['one', { app_attest: { ...APPLE, mode: 'observe' } }],
    ['two of one mode', { app_attest: { ...APPLE, mode: 'tier' }, key_attestation: keyAttestation({ mode: 'tier' }) }],
    ['two by default', { app_attest: APPLE, key_attestation: keyAttestation() }],
  ])('%s → no warning', (_, proofs) => {
    expect(warningsOf(proofs)).toEqual([]);
  });

  it('an application of another kind → no warning', () => {
    expect(proofWarnings(parseAppConfig(rawServerConfig()).authentication)).toEqual([]);
  });

  it('a proof in a looser mode → named together with the strictest one', () => {
    const proofs = { app_attest: APPLE, key_attestation: keyAttestation({ mode: 'observe' }) };
    expect(warningsOf(proofs)).toEqual([
      'key_attestation (observe) is looser than app_attest (enforce): devices choose their proof, so the application is as strict as key_attestation.',
    ]);
    const tiered = { app_attest: { ...APPLE, mode: 'tier' }, key_attestation: keyAttestation() };
    expect(warningsOf(tiered)).toEqual([expect.stringContaining('app_attest (tier) is looser than key_attestation')]);
  });
});
