import { Injectable } from '@nestjs/common';
import type { ProofName } from '../../app-directory/config/device-proofs-config.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { type DeviceFacts, requireFacts, withSignals } from '../devices/device-facts.rules.js';
import type { StoredDeviceKey } from '../devices/device-keys.repository.js';
import { DeviceProofs } from '../devices/device-proofs.service.js';
import { assertionClientDataHash, frameworkClientDataHash } from '../devices/proof/signed-data.rules.js';
import type { DeviceApp } from './auth-modes.rules.js';

/** The signature of a device. */
interface SentProof {
  readonly key_id: string;
  readonly challenge: string;
  /** Of App Attest. */
  readonly assertion?: string;
  /** Of any other key. */
  readonly signature?: string;
}

/** The changes of the stored key by a verified proof. */
export interface UsedKey {
  /** Null: the key has none. */
  readonly counter: number | null;
  readonly facts: DeviceFacts;
}

/**
 * Checks a stored key against the current configuration: its proof is still accepted, and its facts still suffice.
 * Facts of App Attest are checked with the assertion, which may change them.
 *
 * @param named the proof that the request names.
 * @param isSigned whether the request has a signature instead of an assertion.
 * @throws attest_failed, app_version_too_old. Source: docs/reference/application-api.md#device-attestation.
 */
export function requireKeyOf(
  { proofs }: DeviceApp,
  key: StoredDeviceKey,
  named: ProofName | undefined,
  isSigned: boolean,
): void {
  const isNamed = (named ?? key.proof) === key.proof && isSigned === (key.proof !== 'app_attest');
  if (!isNamed || proofs[key.proof] === undefined) {
    throw new GatewayError('attest_failed', { reason: 'key_of_other_proof' });
  }
  if (key.environment !== null && !proofs.app_attest?.environments.includes(key.environment)) {
    throw new GatewayError('attest_failed', { reason: 'environment_not_allowed' });
  }
  if (key.proof !== 'app_attest') requireFacts(key.facts, proofs);
}

/** Verifies the proofs of registered devices. */
@Injectable()
export class ExchangeProofs {
  constructor(private readonly proofs: DeviceProofs) {}

  /**
   * @param key that {@link requireKeyOf} accepted.
   * @param isFrameworkClient whether the framework's client signed, which signs something else.
   * @throws attest_failed, app_version_too_old; Error when the stored key cannot be read.
   */
  verify(
    appId: string,
    { proofs }: DeviceApp,
    sent: SentProof,
    key: StoredDeviceKey,
    isFrameworkClient: boolean,
  ): UsedKey {
    const signed = { appId, keyId: sent.key_id, challenge: sent.challenge };
    const { assertion = '', signature } = sent;
    const { publicKey } = key;
    if (signature !== undefined) {
      this.proofs.verifySignature({ ...signed, publicKey, signature });
      return { counter: null, facts: key.facts };
    }
    if (proofs.app_attest === undefined) throw new TypeError('an assertion without App Attest');
    const clientDataHash = isFrameworkClient ? frameworkClientDataHash(signed) : assertionClientDataHash(signed);
    const asserted = { appAttest: proofs.app_attest, clientDataHash, assertion, publicKey, counter: key.counter };
    const { counter, signals } = this.proofs.verifyAssertion(asserted);
    return { counter, facts: withSignals(key.facts, signals) };
  }
}
