import { Injectable } from '@nestjs/common';
import type { AppRef } from '../../app-directory/app.entity.js';
import { Clock, type Instant } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import { CHALLENGE_LIFETIME_SECONDS, ChallengesRepository } from './challenges.repository.js';

const CHALLENGE_BYTES = 32;
/** Interval and batch size for deleting expired challenges. After a full batch the next call deletes again. */
const CLEAR_EVERY_MS = 10_000;
const CLEAR_AT_ONCE = 2_000;
const NOT_IN_FORCE = 'challenge_not_in_force';

/** A challenge that one key has to sign. */
export interface PendingChallenge {
  readonly challenge: string;
  /** At least 1. */
  readonly remainingSeconds: number;
}

/** Issues challenges and spends each one once. */
@Injectable()
export class ChallengesService {
  private clearedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly repository: ChallengesRepository,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * A new challenge of an application: 32 random bytes in base64url without padding.
   *
   * @throws app_not_found the application was deleted during this call.
   * Source: docs/reference/application-api.md#device-attestation.
   */
  async issue(app: AppRef): Promise<string> {
    const challenge = this.ids.bytes(CHALLENGE_BYTES).toString('base64url');
    const isStored = await this.repository.insert(app, challenge, CHALLENGE_LIFETIME_SECONDS);
    if (!isStored) throw new GatewayError('app_not_found', { reason: 'app_deleted' });
    await this.clearNowAndThen();
    return challenge;
  }

  /**
   * The challenge that a key has to sign: the pending one with its remaining life, otherwise a new one.
   *
   * @throws app_not_found the application was deleted during this call.
   * Source: docs/reference/application-api.md#framework-client.
   */
  async pending(app: AppRef, keyId: string): Promise<PendingChallenge> {
    const challenge = this.ids.bytes(CHALLENGE_BYTES).toString('base64url');
    const pending = await this.repository.pend(app, keyId, challenge, CHALLENGE_LIFETIME_SECONDS);
    if (pending === undefined) throw new GatewayError('app_not_found', { reason: 'app_deleted' });
    await this.clearNowAndThen();
    return pending;
  }

  /** The challenge that a key has to sign; `undefined` without one in force. */
  findPending(app: AppRef, keyId: string): Promise<string | undefined> {
    return this.repository.findPending(app, keyId);
  }

  /**
   * Spends a challenge.
   *
   * @returns the time, by the database clock.
   * @throws attest_failed it was not issued for this application, is already spent, or has expired.
   */
  async spend(app: AppRef, challenge: string): Promise<Instant> {
    const spentAt = await this.repository.take(app, challenge);
    if (spentAt === undefined) throw challengeNotInForce();
    return spentAt;
  }

  private async clearNowAndThen(): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.clearedAtMs < CLEAR_EVERY_MS) return;
    this.clearedAtMs = nowMs;
    const deleted = await this.repository.deleteExpired(CLEAR_AT_ONCE);
    if (deleted === CLEAR_AT_ONCE) this.clearedAtMs = Number.NEGATIVE_INFINITY;
  }
}

/** Whether a refusal is that of {@link challengeNotInForce}. */
export function isChallengeRefusal({ reason }: GatewayError): boolean {
  return reason === NOT_IN_FORCE;
}

/** Refusal of an unknown, spent or expired challenge. */
export function challengeNotInForce(): GatewayError {
  return new GatewayError('attest_failed', {
    message: 'The challenge is expired or already used; get a new one and sign it.',
    reason: NOT_IN_FORCE,
  });
}
