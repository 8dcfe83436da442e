import { createPublicKey } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { AppRef } from '../../../app-directory/app.entity.js';
import type { PlayIntegrity } from '../../../app-directory/config/device-proofs-config.js';
import type { Instant } from '../../../common/clock.js';
import { decodeBase64 } from '../proof/encoding.rules.js';
import { p256KeyOf } from '../proof/p256-key.rules.js';
import { clientDataText, sha256 } from '../proof/signed-data.rules.js';
import { proofRefused } from '../proof-refusal.js';
import { IntegrityTokens } from './integrity-tokens.service.js';
import { type PlayIntegrityFacts, verifyIntegrityPayload } from './integrity-verdict.rules.js';

/** A P-256 key in SPKI has 91 bytes. */
const MAX_PUBLIC_KEY_BYTES = 128;

/** A registration of a key that the application created. */
interface PlayRegistration {
  readonly app: AppRef;
  readonly policy: PlayIntegrity;
  readonly keyId: string;
  /** Base64 or base64url of SPKI in DER, as sent. */
  readonly publicKey: string;
  readonly integrityToken: string;
  /** As issued. */
  readonly challenge: string;
  /** When the challenge was spent, by the database clock. */
  readonly spentAt: Instant;
  /** Receives the facts before they are checked. */
  noteFacts?(facts: PlayIntegrityFacts): void;
}

/** Verifies keys that an integrity token vouches for. */
@Injectable()
export class PlayIntegrityProofs {
  constructor(private readonly tokens: IntegrityTokens) {}

  /**
   * @returns the public key (SPKI, DER in base64), and the facts of the token.
   * @throws attest_failed with the granular reason; service_unavailable the token cannot be decoded now.
   * Source: docs/reference/security.md#play-integrity.
   */
  async verify({
    app,
    policy,
    keyId,
    publicKey,
    integrityToken,
    challenge,
    spentAt,
    noteFacts,
  }: PlayRegistration): Promise<{
    publicKey: string;
    facts: PlayIntegrityFacts;
  }> {
    const key = usable(p256KeyOf(decodeBase64(publicKey, MAX_PUBLIC_KEY_BYTES), keyId));
    const payload = await this.tokens.decode(app, policy, integrityToken);
    const requestHash = sha256(clientDataText({ appId: app.id, challenge, keyId })).toString('base64url');
    const facts = verifyIntegrityPayload(payload, { policy, requestHash, spentAtMs: spentAt.getTime(), noteFacts });
    return { publicKey: key.toString('base64'), facts };
  }
}

/** @throws attest_failed the point is not on the curve. */
function usable(spki: Buffer): Buffer {
  try {
    createPublicKey({ key: spki, format: 'der', type: 'spki' });
    return spki;
  } catch (error) {
    throw proofRefused('public_key_unusable', error);
  }
}
