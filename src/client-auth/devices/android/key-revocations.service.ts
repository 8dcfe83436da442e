import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { Environment } from '../../../platform/config/environment.js';
import { proofRefused } from '../proof-refusal.js';
import { RevocationListRepository } from './revocation-list.repository.js';

/** Age from which a list no longer vouches for new keys. */
const MAX_AGE_MS = { stale_24h: 24 * 60 * 60_000, closed: 60 * 60_000 };

/** The status of a chain in the list. */
export interface ChainStanding {
  readonly revoked: ReadonlySet<string>;
  /** False: the list is too old to vouch for a chain. */
  readonly isCurrent: boolean;
}

/**
 * Checks certificate chains against the stored revocation list. `off` checks nothing.
 *
 * Source: docs/reference/security.md#revocation-of-android-keys.
 */
@Injectable()
export class KeyRevocations {
  constructor(
    private readonly lists: RevocationListRepository,
    private readonly environment: Environment,
    private readonly clock: Clock,
  ) {}

  async standingOf(serials: readonly string[]): Promise<ChainStanding> {
    const mode = this.environment.ANDROID_REVOCATION_LIST;
    if (mode === 'off') return { revoked: new Set(), isCurrent: true };
    const { revoked, readAt, since } = await this.lists.judge(serials);
    // The list may arrive a moment after the first application needs it; only `closed` waits for it.
    const knownSince = mode === 'closed' ? readAt : (since ?? this.clock.now());
    const isCurrent = knownSince !== null && this.clock.nowMs() - knownSince.getTime() <= MAX_AGE_MS[mode];
    return { revoked: new Set(revoked), isCurrent };
  }

  /**
   * For registered keys: the age of the list does not matter.
   *
   * @throws attest_failed
   */
  async requireUnrevoked(serials: readonly string[]): Promise<void> {
    const { revoked } = await this.standingOf(serials);
    if (revoked.size > 0) throw proofRefused('certificate_revoked');
  }
}

/**
 * For a chain that is otherwise valid.
 *
 * @throws service_unavailable
 */
export function requireCurrentList({ isCurrent }: ChainStanding): void {
  if (!isCurrent) throw new GatewayError('service_unavailable', { reason: 'revocation_list_stale' });
}
