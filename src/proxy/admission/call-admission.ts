import { Injectable } from '@nestjs/common';
import type { AppLimits, AppScopeLimits } from '../../app-directory/app-limits.rules.js';
import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import type { BudgetHold } from '../../budgets/budget-hold.js';
import { Budgets } from '../../budgets/budgets.service.js';
import type { Caller } from '../../client-auth/caller.js';
import { limitedCallOf } from '../../client-auth/limited-call.rules.js';
import type { ErrorCode } from '../../common/errors/error-catalogue.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { GatewayRequest } from '../../common/http/gateway-request.js';
import { type Ready, whenReady } from '../../common/when-ready.js';
import { Entitlements } from '../../entitlements/entitlements.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import type { LimitedCall } from '../../request-limits/request-counting.js';
import { countsUnknown } from '../../request-limits/request-limit.rules.js';
import { RequestLimits } from '../../request-limits/request-limits.service.js';
import type { RefusedStatus, UsageAdmission } from '../../usage/usage-event.js';
import { UsageRefusals } from '../../usage/usage-refusals.service.js';
import { BlockedUsers, userBlocked } from '../../users/blocked-users.js';
import { inTurn, orElse } from './ready-steps.js';

/** A call whose content passed every check. */
export interface JudgedCall {
  /** The event for recording a refusal. */
  readonly event: UsageAdmission;
  /** Maximum cost of the call over all its targets, in whole nano-dollars. */
  readonly worstNanoUsd: number;
}

/** Budget reservations that an admitted call holds until it ends. */
export type CallHolds = readonly BudgetHold[];

const NOTHING_HELD: CallHolds = [];

/**
 * Recorded status of each refusal. A refusal because state is unavailable is not recorded.
 * Source: docs/reference/accounting.md#statuses.
 */
const RECORDED_AS: ReadonlyMap<ErrorCode, RefusedStatus> = new Map([
  ['auth_required', 'blocked_user'],
  ['billing_payment_required', 'blocked_billing'],
  ['billing_request_quota_exceeded', 'blocked_billing'],
  ['app_budget_exhausted', 'blocked_app_budget'],
  ['app_rate_limited', 'blocked_app_rate'],
]);

/** Admits a call after its content checks, or refuses it and records the refusal. */
@Injectable()
export class CallAdmission {
  constructor(
    private readonly blockedUsers: BlockedUsers,
    private readonly entitlements: Entitlements,
    private readonly budgets: Budgets,
    private readonly requests: RequestLimits,
    private readonly refusals: UsageRefusals,
    private readonly clock: SharedClock,
  ) {}

  /**
   * Checks in this order: blocked user; the account's plan; budget and request limits of the user, then of the
   * application. Only an admitted call is counted; a refused call holds no reservation. Sets the `limiter` timing.
   *
   * @returns synchronously when all state is in memory. The caller must release or settle every reservation once.
   * @throws auth_required the user is blocked; billing_*, app_budget_exhausted, app_rate_limited; service_unavailable
   *   the remaining budget or quota is unknown.
   * Source: docs/reference/application-api.md#order-of-checks, docs/reference/application-api.md#blocked-users,
   * docs/reference/application-api.md#request-limits.
   */
  admit(caller: Caller, call: JudgedCall, { timings }: GatewayRequest): Ready<CallHolds> {
    const startedMs = this.clock.monotonicMs();
    const mark = () => {
      if (timings) timings.limiterMs = this.clock.monotonicMs() - startedMs;
    };
    const admitted = orElse(
      () => this.pastBlocks(caller, call),
      (error) => {
        mark();
        this.record(call.event, error);
        throw error;
      },
    );
    return whenReady(admitted, (held) => {
      mark();
      return held;
    });
  }

  /** Reports an admitted call that is never sent: it stays counted, but no event will represent it. */
  noteUnsent(caller: Caller): void {
    const limited = limitedCallOf(caller);
    if (limited !== undefined) this.requests.noteUnsent(limited);
  }

  private record(event: UsageAdmission, error: unknown): void {
    const status = error instanceof GatewayError ? RECORDED_AS.get(error.code) : undefined;
    if (status !== undefined) this.refusals.note(event, status);
  }

  private pastBlocks(caller: Caller, call: JudgedCall): Ready<CallHolds> {
    const { app, userId } = caller;
    if (userId === null) return this.withinPlan(caller, call);
    return whenReady(this.blockedUsers.isBlocked(app, userId), (isBlocked) => {
      if (isBlocked) throw userBlocked();
      return this.withinPlan(caller, call);
    });
  }

  private withinPlan(caller: Caller, call: JudgedCall): Ready<CallHolds> {
    const { organizationId, limits } = caller.app;
    return whenReady(this.entitlements.admitCall(organizationId), () => {
      if (limits === undefined) return NOTHING_HELD;
      return orElse(
        () => this.withinLimits(caller, limits, call),
        (error) => {
          this.entitlements.withdrawCall(organizationId);
          throw error;
        },
      );
    });
  }

  /** Reserves budgets first, because reservations can be released. Counts requests last, all scopes in one step. */
  private withinLimits(caller: Caller, { user, app }: AppLimits, call: JudgedCall): Ready<CallHolds> {
    // While the clock is unsettled, the windows and the month of the call are unknown.
    if (this.clock.settled() !== undefined) throw countsUnknown();
    const { userId } = caller;
    const limited = limitedCallOf(caller);
    const held: BudgetHold[] = [];
    const holdOf = (scope: AppScopeLimits | undefined, ofUser: string | null) =>
      whenReady(this.hold(caller.app, scope, ofUser, call), (one) => {
        if (one !== undefined) held.push(one);
      });
    const admitted = orElse(
      () =>
        inTurn(
          () => (userId === null ? undefined : holdOf(user, userId)),
          () =>
            orElse(
              () => holdOf(app, null),
              (error) => this.afterUser(limited, error),
            ),
          () => limited && this.requests.admit(limited),
        ),
      (error) => {
        for (const one of held) one.release();
        throw error;
      },
    );
    return whenReady(admitted, () => held);
  }

  private hold(
    { organizationId, id }: ReadableApp,
    scope: AppScopeLimits | undefined,
    userId: string | null,
    { event, worstNanoUsd }: JudgedCall,
  ): Ready<BudgetHold | undefined> {
    if (scope?.budgetNanoUsd === undefined) return undefined;
    const { budgetNanoUsd } = scope;
    return this.budgets.hold({ organizationId, appId: id, userId, budgetNanoUsd }, worstNanoUsd, event.createdAtMs);
  }

  /** Handles a refusal by the application's budget: a user over its own limits gets the user's refusal instead. */
  private afterUser(limited: LimitedCall | undefined, refusal: unknown): Ready<never> {
    const isExhausted = refusal instanceof GatewayError && refusal.code === 'app_budget_exhausted';
    return whenReady(isExhausted && limited ? this.requests.requireUser(limited) : undefined, () => {
      throw refusal;
    });
  }
}
