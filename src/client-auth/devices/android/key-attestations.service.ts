import { Injectable } from '@nestjs/common';
import type { KeyAttestation } from '../../../app-directory/config/device-proofs-config.js';
import { Clock, type Instant } from '../../../common/clock.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { MAX_CLOCK_DIFFERENCE_MS } from '../device-proofs.service.js';
import { decodeBase64 } from '../proof/encoding.rules.js';
import { readAndroidChain, serialsOf } from './android-chain.rules.js';
import { AndroidRoots } from './android-roots.js';
import { type AttestedAndroidKey, verifyKeyAttestation } from './key-attestation.rules.js';
import type { KeyAttestationFacts } from './key-policy.rules.js';
import { KeyRevocations, requireCurrentList } from './key-revocations.service.js';

/** Source: docs/reference/application-api.md#device-attestation. */
export const MAX_CERTIFICATES = 10;
export const MAX_CERTIFICATE_BYTES = 16 * 1024;

/** A registration of an Android key. */
interface AndroidRegistration {
  readonly policy: KeyAttestation;
  readonly keyId: string;
  /** Base64 or base64url of DER, as sent: leaf first, root last. */
  readonly certificateChain: readonly string[];
  /** As issued. */
  readonly challenge: string;
  /** When the challenge was spent, by the database clock. */
  readonly spentAt: Instant;
  /** See `ExpectedKey`. */
  noteFacts?(facts: KeyAttestationFacts): void;
}

/** Verifies the attestation of Android keys. */
@Injectable()
export class KeyAttestations {
  constructor(
    private readonly trusted: AndroidRoots,
    private readonly revocations: KeyRevocations,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws attest_failed with the granular reason; app_version_too_old.
   * @throws service_unavailable the chain is valid and the revocation list is too old; or a certificate is outside its
   * validity, but the service's clock and the database clock differ too much to decide that. Source:
   * docs/reference/security.md#android-key-attestation.
   */
  async verify({
    policy,
    keyId,
    certificateChain,
    challenge,
    spentAt,
    noteFacts,
  }: AndroidRegistration): Promise<AttestedAndroidKey> {
    const chain = readAndroidChain(certificateChain.map((text) => decodeBase64(text, MAX_CERTIFICATE_BYTES)));
    const expected = { policy, keyId, challenge: Buffer.from(challenge, 'base64url'), noteFacts };
    const standing = await this.revocations.standingOf(serialsOf(chain));
    const { revoked } = standing;
    const atMs = this.clock.nowMs();
    try {
      const key = verifyKeyAttestation(chain, expected, { roots: this.trusted.roots, revoked, atMs });
      requireCurrentList(standing);
      return key;
    } catch (error) {
      const clocksAgree = Math.abs(atMs - spentAt.getTime()) <= MAX_CLOCK_DIFFERENCE_MS;
      const isOutOfForce = error instanceof GatewayError && error.reason === 'certificate_not_in_force';
      if (clocksAgree || !isOutOfForce) throw error;
      throw new GatewayError('service_unavailable', { reason: 'clocks_disagree', cause: error });
    }
  }
}
