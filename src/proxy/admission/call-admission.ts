import { Injectable } from '@nestjs/common';
import type { AppBudget, AppLimits } from '../../app-directory/app-limits.rules.js';
import { nanoUsdInUsd, UNPROVEN_GROUP } from '../../app-directory/config/limits-config.js';
import type { BudgetHold, CallBudget } from '../../budgets/budget-hold.js';
import { latestEndFirst, WINDOW_KINDS } from '../../budgets/budget-period.rules.js';
import { BudgetRuns } from '../../budgets/budget-runs.js';
import { Budgets } from '../../budgets/budgets.service.js';
import { type Caller, limitedCallOf, limitsOfUser } from '../../client-auth/callers/caller.js';
import { shownName } from '../../common/errors/display-text.rules.js';
import { ERRORS, type ErrorCode } from '../../common/errors/error-catalogue.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { type GatewayRequest, RUN_BUDGET_HEADER } from '../../common/http/gateway-request.js';
import { Entitlements } from '../../limits/plans/entitlements.js';
import type { LimitedCall } from '../../limits/requests/request-counting.js';
import { countsUnknown } from '../../limits/requests/request-limit.rules.js';
import { RequestLimits } from '../../limits/requests/request-limits.service.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import type { RefusedCall, RefusedStatus, UsageAdmission } from '../../usage/recording/usage-event.js';
import { UsageRefusals } from '../../usage/recording/usage-refusals.service.js';
import { BlockedUsers, userBlocked } from '../../users/blocked-users.js';
import { type CallSubjects, invalidHeader, type NamedRun } from './call-subjects.rules.js';

/** A call whose content passed every check. */
export interface PricedCall {
  /** The event for recording a refusal. */
  readonly event: UsageAdmission;
  /** Maximum cost of the call over all its targets, in whole nano-dollars. */
  readonly maxCostNanoUsd: number;
  /** Maximum tokens of prompt and answer. */
  readonly maxTokens: number;
  readonly subjects: CallSubjects;
}

/** Budget reservations that an admitted call holds until it ends. */
export type CallHolds = readonly BudgetHold[];

const NOTHING_HELD: CallHolds = [];

/** A call and whose budgets it reserves. */
interface HoldRequest extends Pick<CallBudget, 'scope' | 'subject'> {
  readonly caller: Caller;
  readonly call: PricedCall;
  readonly budgets: readonly AppBudget[] | undefined;
}

/**
 * Recorded status of each refusal. A refusal because state is unavailable is not recorded: nothing was decided.
 * Source: docs/reference/accounting.md#statuses.
 */
const RECORDED_AS: ReadonlyMap<ErrorCode, RefusedStatus> = new Map([
  ['auth_required', 'blocked_user'],
  ['billing_payment_required', 'blocked_billing'],
  ['billing_request_quota_exceeded', 'blocked_billing'],
  ['app_budget_exhausted', 'blocked_app_budget'],
  ['app_rate_limited', 'blocked_app_rate'],
  ['path_not_allowed', 'blocked_policy'],
  ['model_not_allowed', 'blocked_policy'],
  ['api_style_not_supported', 'blocked_policy'],
  ['max_output_tokens_exceeded', 'blocked_policy'],
  ['endpoint_not_found', 'blocked_policy'],
  ['pricing_not_configured', 'blocked_policy'],
  ['provider_not_configured', 'blocked_policy'],
  ['provider_disabled', 'blocked_policy'],
  ['invalid_request', 'blocked_invalid'],
  ['payload_too_large', 'blocked_invalid'],
]);

/** Refusals by a budget. */
const EXHAUSTED: ReadonlySet<ErrorCode> = new Set(['app_budget_exhausted', 'app_rate_limited']);

/** Refusals that end by themselves. */
const ENDING: ReadonlySet<RefusedStatus> = new Set(['blocked_app_rate', 'blocked_app_budget', 'blocked_billing']);

/** Admits a call after its content checks, or refuses it and records the refusal. */
@Injectable()
export class CallAdmission {
  constructor(
    private readonly blockedUsers: BlockedUsers,
    private readonly entitlements: Entitlements,
    private readonly budgets: Budgets,
    private readonly runs: BudgetRuns,
    private readonly requests: RequestLimits,
    private readonly refusals: UsageRefusals,
    private readonly clock: SharedClock,
  ) {}

  /**
   * Checks in this order: blocked user; the account's plan; the budgets of the user, of its groups, of its run and of
   * the application; the request limits of the user, then of the application. Only an admitted call is counted; a
   * refused call holds no reservation. Sets the `limiter` timing.
   *
   * @returns the reservations; the caller must release or settle each of them once.
   * @throws auth_required the user is blocked; billing_*, app_budget_exhausted, app_rate_limited; service_unavailable
   *   the remaining budget or quota is unknown.
   * Source: docs/reference/application-api.md#order-of-checks, docs/reference/application-api.md#blocked-users,
   * docs/reference/application-api.md#request-limits.
   */
  async admit(caller: Caller, call: PricedCall, { timings }: GatewayRequest): Promise<CallHolds> {
    const startedMs = this.clock.monotonicMs();
    try {
      const { app, userId } = caller;
      if (userId !== null && (await this.blockedUsers.isBlocked(app, userId))) throw userBlocked();
      await this.entitlements.admitCall(app.organizationId);
      return app.limits === undefined ? NOTHING_HELD : await this.withinLimits(caller, app.limits, call);
    } catch (error) {
      this.noteRefused(error, () => call.event);
      throw error;
    } finally {
      if (timings) timings.limiterMs = this.clock.monotonicMs() - startedMs;
    }
  }

  /** Reports an admitted call that is never sent: it stays counted, but no event will represent it. */
  noteUnsent(caller: Caller): void {
    const limited = limitedCallOf(caller);
    if (limited !== undefined) this.requests.noteUnsent(limited);
  }

  /**
   * Records a refusal, unless it is of a kind that is not recorded.
   *
   * @param callOf what is known about the request.
   */
  noteRefused(error: unknown, callOf: () => RefusedCall): void {
    if (!(error instanceof GatewayError)) return;
    const status = RECORDED_AS.get(error.code);
    if (status === undefined) return;
    const { code, reason = null, retryAfterSeconds, data } = error;
    const group = typeof data?.group === 'string' ? data.group : undefined;
    const call = callOf();
    const endsAfterMs = ENDING.has(status) && retryAfterSeconds !== undefined ? retryAfterSeconds * 1000 : undefined;
    const untilMs = endsAfterMs === undefined ? null : call.createdAtMs + endsAfterMs;
    this.refusals.note(call, { status, code, reason, message: told(error, status), group, untilMs });
  }

  /**
   * Reserves budgets first, because reservations can be released. Counts requests last, all scopes in one step. A
   * refusal uncounts the call in the account's plan.
   */
  private async withinLimits(caller: Caller, limits: AppLimits, call: PricedCall): Promise<CallHolds> {
    const { userId } = caller;
    const { app } = limits;
    const user = limitsOfUser(caller);
    const { groups, run } = call.subjects;
    const limited = limitedCallOf(caller);
    const held: BudgetHold[] = [];
    try {
      // While the time is unknown, so are the windows and the periods of the call.
      if (this.clock.whenKnown() !== undefined) throw countsUnknown();
      if (userId !== null)
        await this.hold(held, { caller, call, scope: 'user', subject: userId, budgets: user?.budgets });
      if (groups !== null) {
        for (const { name, budgets } of limits.groups)
          await this.hold(held, { caller, call, scope: 'group', subject: `${name}:${groups[name]}`, budgets });
        const pool = groups[UNPROVEN_GROUP] === undefined ? undefined : limits.unproven;
        const subject = `${UNPROVEN_GROUP}:${groups[UNPROVEN_GROUP]}`;
        await this.hold(held, { caller, call, scope: 'group', subject, budgets: pool?.budgets });
      }
      if (run !== undefined) held.push(await this.holdOfRun(caller, call, run));
      await this.holdOfApp(held, { caller, call, scope: 'app', subject: '', budgets: app?.budgets }, limited);
      if (limited !== undefined) await this.requests.admit(limited);
    } catch (error) {
      for (const one of held) one.release();
      this.entitlements.withdrawCall(caller.app.organizationId);
      throw error;
    }
    // An array that grows has room for 16: a copy lives until the event is stored.
    return held.slice();
  }

  /** A user over its own request limits gets that refusal in place of the application's budget refusal. */
  private async holdOfApp(held: BudgetHold[], of: HoldRequest, limited: LimitedCall | undefined): Promise<void> {
    try {
      await this.hold(held, of);
    } catch (error) {
      const isExhausted = error instanceof GatewayError && EXHAUSTED.has(error.code);
      if (isExhausted && limited !== undefined) await this.requests.requireUser(limited);
      throw error;
    }
  }

  private async hold(held: BudgetHold[], { caller, call, scope, subject, budgets }: HoldRequest): Promise<void> {
    if (budgets === undefined) return;
    const { organizationId, id } = caller.app;
    const { createdAtMs } = call.event;
    for (const { window, limit } of latestEndFirst(budgets, createdAtMs)) {
      const budget = { organizationId, appId: id, scope, subject, window, limit };
      held.push(await this.budgets.hold(budget, mostOf(call, budget), createdAtMs));
    }
  }

  private async holdOfRun({ app, userId }: Caller, call: PricedCall, run: NamedRun): Promise<BudgetHold> {
    const { organizationId, id: appId } = app;
    const { createdAtMs: atMs } = call.event;
    const { id: runId, ...asked } = run;
    const { budget, begunNanoUsd } = await this.runs.join({
      ...{ organizationId, appId, userId: userId ?? '', runId, atMs },
      ...asked,
    });
    if (asked.budgetNanoUsd !== undefined && asked.budgetNanoUsd !== begunNanoUsd)
      throw invalidHeader(
        RUN_BUDGET_HEADER,
        `must be ${nanoUsdInUsd(begunNanoUsd)}, the budget that the run began with, or absent`,
        'run_budget_differs',
      );
    return this.budgets.hold(budget, call.maxCostNanoUsd, atMs);
  }
}

/** What a call uses of a budget at most, in the budget's measure. */
function mostOf({ maxCostNanoUsd, maxTokens }: PricedCall, { window }: Pick<CallBudget, 'window'>): number {
  const { measure } = WINDOW_KINDS[window];
  if (measure === 'money') return maxCostNanoUsd;
  return measure === 'tokens' ? maxTokens : 1;
}

/** The message of a refusal as it is stored. What is wrong with a body may quote it: then only the member is named. */
function told({ code, path, message }: GatewayError, status: RefusedStatus): string {
  if (status !== 'blocked_invalid') return message;
  return path === undefined ? ERRORS[code].message : `${ERRORS[code].message} (${shownName(path)})`;
}
