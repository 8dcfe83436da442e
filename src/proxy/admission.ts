import { Injectable } from '@nestjs/common';
import type { Caller } from '../client-auth/caller.js';
import { Clock } from '../common/clock.js';
import type { GatewayRequest } from '../common/http/gateway-request.js';
import type { Ready } from '../common/when-ready.js';
import type { UsageAdmission } from '../usage/usage-event.js';
import { UsageRefusals } from '../usage/usage-refusals.service.js';
import { BlockedUsers, userBlocked } from '../users/blocked-users.js';

/** Lets a call through that passed every check of its content, or refuses and records it (contract-app 1.2, step 9). */
@Injectable()
export class CallAdmission {
  constructor(
    private readonly blockedUsers: BlockedUsers,
    private readonly refusals: UsageRefusals,
    private readonly clock: Clock,
  ) {}

  /**
   * Marks `limiter`. At once when the application's blocked users are in memory; calls that belong to nobody pass.
   *
   * @param event what a refusal is recorded with.
   * @throws auth_required the user is blocked; the call cost nothing and counts nowhere else (contract-app 3.3).
   */
  requireAllowed({ app, userId }: Caller, event: UsageAdmission, { timings }: GatewayRequest): Ready<void> {
    if (userId === null) return;
    const startedMs = this.clock.monotonicMs();
    const mark = () => {
      if (timings) timings.limiterMs = this.clock.monotonicMs() - startedMs;
    };
    const blocked = this.blockedUsers.isBlocked(app, userId);
    if (blocked instanceof Promise) return blocked.finally(mark).then((isBlocked) => this.judge(isBlocked, event));
    mark();
    this.judge(blocked, event);
  }

  private judge(isBlocked: boolean, event: UsageAdmission): void {
    if (!isBlocked) return;
    this.refusals.note(event, 'blocked_user');
    throw userBlocked();
  }
}
