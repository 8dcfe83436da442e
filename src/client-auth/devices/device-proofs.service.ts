import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { AppAttest } from '../../app-directory/config/app-attest-config.js';
import { Clock, type Instant } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { lruCache } from '../../common/lru-cache.js';
import { AttestationRoots } from './attestation-roots.js';
import { type VerifiedAssertion, verifyAssertionObject } from './proof/assertion.rules.js';
import { type AttestedKey, verifyAttestationObject } from './proof/attestation.rules.js';
import { decodeBase64 } from './proof/encoding.rules.js';
import { type AssertionClientData, attestationClientDataHash, clientDataText } from './proof/signed-data.rules.js';
import { proofRefused } from './proof-refusal.js';

/** Real attestations have about 6 KiB. Parsing time grows with the items, each at least a byte. */
const MAX_ATTESTATION_BYTES = 16 * 1024;
/** Real assertions have about 150 bytes. */
const MAX_ASSERTION_BYTES = 2 * 1024;
/** A P-256 signature has at most 72 bytes. */
const MAX_SIGNATURE_BYTES = 256;
/** Maximum difference between two correct clocks; device certificates are valid for days. */
export const MAX_CLOCK_DIFFERENCE_MS = 10 * 60_000;
/** An imported key takes about 7 KiB. */
const MAX_IMPORTED_KEYS = 2_000;

/** A registration of a device key. */
interface Attestation {
  readonly appAttest: AppAttest;
  readonly keyId: string;
  /** Base64 or base64url, as sent. */
  readonly attestation: string;
  /** As issued. */
  readonly challenge: string;
  /** When the challenge was spent, by the database clock. */
  readonly spentAt: Instant;
}

/** A signature by a registered key. */
interface Assertion {
  readonly appAttest: AppAttest;
  readonly clientDataHash: Buffer;
  /** Base64 or base64url, as sent. */
  readonly assertion: string;
  /** From {@link DeviceProofs.verifyAttestation}. */
  readonly publicKey: string;
  /** The counter of the last accepted assertion. */
  readonly counter: number;
}

/** A signature of the text of the client data. */
interface TextSignature extends AssertionClientData {
  /** Base64 or base64url of DER, as sent. */
  readonly signature: string;
  readonly publicKey: string;
}

/** Verifies attestations and assertions. The callers store challenges and counters. */
@Injectable()
export class DeviceProofs {
  private readonly importedKeys = lruCache<KeyObject>(MAX_IMPORTED_KEYS);

  constructor(
    private readonly trusted: AttestationRoots,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws attest_failed with the granular reason.
   * @throws internal_error no trusted root is valid; or a certificate is outside its validity, but the service's clock
   * and the database clock differ too much to decide that.
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
   * @throws attest_failed with the granular reason; Error when the stored key cannot be read, which is not the device's
   * fault.
   * Source: docs/reference/security.md#attestation-checks.
   */
  verifyAssertion({ appAttest: app, clientDataHash, assertion, publicKey, counter }: Assertion): VerifiedAssertion {
    const bytes = decodeBase64(assertion, MAX_ASSERTION_BYTES);
    return verifyAssertionObject(bytes, { app, clientDataHash, publicKey: this.imported(publicKey), counter });
  }

  /**
   * Verifies a signature by a registered key that signs any text.
   *
   * @throws attest_failed with the granular reason; Error when the stored key cannot be read.
   * Source: docs/reference/security.md#android-key-attestation.
   */
  verifySignature({ signature, publicKey, ...clientData }: TextSignature): void {
    const bytes = decodeBase64(signature, MAX_SIGNATURE_BYTES);
    const isValid = verify('sha256', Buffer.from(clientDataText(clientData)), this.imported(publicKey), bytes);
    if (!isValid) throw proofRefused('signature_invalid');
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
