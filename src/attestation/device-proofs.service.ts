import { createPublicKey, type KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { AppAttest } from '../app-directory/config/app-config.js';
import { Clock, type Instant } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { AttestationRoots } from './attestation-roots.js';
import { verifyAssertionObject } from './proof/assertion.rules.js';
import { type AttestedKey, verifyAttestationObject } from './proof/attestation.rules.js';
import { decodeBase64 } from './proof/base64.rules.js';
import {
  type AssertionClientData,
  assertionClientDataHash,
  attestationClientDataHash,
} from './proof/client-data.rules.js';

/** Real ones have about 6 KiB. Reading takes time by the item, and an item takes a byte. */
const MAX_ATTESTATION_BYTES = 16 * 1024;
/** Real ones have about 150 bytes. */
const MAX_ASSERTION_BYTES = 2 * 1024;
/** What lies between two clocks that are both right; certificates of devices are in force for days. */
const MAX_CLOCK_DIFFERENCE_MS = 10 * 60_000;
/** An imported key takes about 7 KiB. */
const MAX_IMPORTED_KEYS = 2_000;

/** A key that a device wants to register. */
interface Attestation {
  readonly appAttest: AppAttest;
  readonly keyId: string;
  /** Base64 of any kind, as it was sent. */
  readonly attestation: string;
  /** As it was issued. */
  readonly challenge: string;
  /** When the challenge was used up, by the clock of the database. */
  readonly spentAt: Instant;
}

/** A signature with a key that is registered. */
interface Assertion extends AssertionClientData {
  readonly appAttest: AppAttest;
  /** Base64 of any kind, as it was sent. */
  readonly assertion: string;
  /** As {@link DeviceProofs.verifyAttestation} gave it. */
  readonly publicKey: string;
  /** Of the last assertion that was accepted. */
  readonly counter: number;
}

/** Judges what devices send to prove themselves. Knows no tables: challenges and counters are the callers'. */
@Injectable()
export class DeviceProofs {
  private readonly importedKeys = new LRUCache<string, KeyObject>({ max: MAX_IMPORTED_KEYS });

  constructor(
    private readonly trusted: AttestationRoots,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws attest_failed with the granular reason.
   * @throws internal_error no trusted root is in force; or a certificate is not, by a clock that the database's does not
   * bear out: then nobody knows.
   * Source: docs/reference/security.md#attestation-checks.
   */
  async verifyAttestation({ appAttest, keyId, attestation, challenge, spentAt }: Attestation): Promise<AttestedKey> {
    const bytes = decodeBase64(attestation, MAX_ATTESTATION_BYTES);
    const expected = { app: appAttest, keyId, clientDataHash: attestationClientDataHash(challenge) };
    const atMs = this.clock.nowMs();
    try {
      return verifyAttestationObject(bytes, expected, { roots: this.trusted.roots, atMs });
    } catch (error) {
      const clocksAgree = Math.abs(atMs - spentAt.getTime()) <= MAX_CLOCK_DIFFERENCE_MS;
      if (clocksAgree || !isOutOfForce(error)) throw error;
      throw new GatewayError('internal_error', { reason: 'clocks_disagree', cause: error });
    }
  }

  /**
   * @returns the counter of the assertion, above the given one.
   * @throws attest_failed with the granular reason; Error when the stored key cannot be read, which is no fault of the
   * device.
   * Source: docs/reference/security.md#attestation-checks.
   */
  verifyAssertion({ appAttest, assertion, publicKey, counter, ...clientData }: Assertion): number {
    const bytes = decodeBase64(assertion, MAX_ASSERTION_BYTES);
    return verifyAssertionObject(bytes, {
      app: appAttest,
      clientDataHash: assertionClientDataHash(clientData),
      publicKey: this.imported(publicKey),
      counter,
    });
  }

  private imported(publicKey: string): KeyObject {
    const known = this.importedKeys.get(publicKey);
    if (known !== undefined) return known;
    const key = createPublicKey({ key: publicKey, format: 'der', type: 'spki', encoding: 'base64' });
    this.importedKeys.set(publicKey, key);
    return key;
  }
}

function isOutOfForce(error: unknown): boolean {
  return error instanceof GatewayError && error.reason === 'certificate_not_in_force';
}
