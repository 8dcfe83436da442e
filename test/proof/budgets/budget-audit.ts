import type { BudgetWindow } from '../../../src/budgets/budget-period.rules.js';
import type { BudgetFleet } from './budget-fleet.js';
import { INPUT_NANO_USD, type PaidCall } from './paid-calls.js';

interface StoredCall {
  readonly marker: string;
  readonly charged: string;
  readonly source: string | null;
}

interface StoredBudget {
  readonly appId: string;
  readonly userId: string;
  readonly window: BudgetWindow;
  readonly spent: string;
  readonly granted: string;
  /** Sum over instances. */
  readonly grants: string;
}

/** What an audit has counted. */
export interface CallCounts {
  readonly seen: number;
  readonly events: number;
  /** Recorded but never sent, because the process was killed at that moment. */
  readonly unseen: number;
}

/** A snapshot of the budgets in Postgres; tokens in `spent` as money, at their uniform cost. */
export function storedBudgets(fleet: BudgetFleet): Promise<StoredBudget[]> {
  return fleet.query<StoredBudget>(`
    SELECT app_id AS "appId", CASE scope WHEN 'group' THEN split_part(subject, ':', 2)
        WHEN 'run' THEN split_part(subject, E'\\n', 1) ELSE subject END AS "userId", window_name AS window,
      spent_nano_usd * CASE WHEN window_name IN ('day_tokens', 'minute_tokens') THEN ${INPUT_NANO_USD} ELSE 1 END AS spent,
      granted_nano_usd AS granted,
      (SELECT coalesce(sum(held.granted_nano_usd), 0) FROM budget_grants held
       WHERE (held.app_id, held.scope, held.subject, held.window_name, held.period_start)
         = (kept.app_id, kept.scope, kept.subject, kept.window_name, kept.period_start)) AS grants
    FROM budget_periods kept`);
}

/** Proves at any moment: spent is at most the budget and one call's worst price, granted the sum of all grants. */
export function auditMoment({ calls }: BudgetFleet, budgets: readonly StoredBudget[]): void {
  for (const { appId, userId, window, spent, granted, grants } of budgets) {
    const name = `${appId}/${userId} by ${window}`;
    if (granted !== grants) calls.violations.push(`${name}: ${granted} granted, ${grants} to its instances`);
    const standing = calls.standing(appId, userId);
    if (standing?.window !== window) continue;
    const over = Number(spent) - standing.budget;
    if (over >= standing.dearest) calls.violations.push(`${name}: ${over} above the budget, stored`);
  }
}

/** Proves of a service that has stopped: one event for every call the provider saw, at its price; nothing is held. */
export async function auditEnd(fleet: BudgetFleet): Promise<CallCounts> {
  const { calls } = fleet;
  const budgets = await storedBudgets(fleet);
  auditMoment(fleet, budgets);
  for (const { appId, userId, window, granted } of budgets) {
    if (granted !== '0')
      calls.violations.push(`${appId}/${userId} by ${window}: ${granted} granted to nobody who lives`);
  }
  const events = await fleet.query<StoredCall>(`
    SELECT app_version AS marker, coalesce(charged_nano_usd, cost_nano_usd) AS charged, cost_source AS source
    FROM usage_events WHERE NOT starts_with(status, 'blocked_')`);
  const byMarker = Map.groupBy(events, ({ marker }) => marker);
  for (const [marker, same] of byMarker) if (same.length > 1) calls.violations.push(`${marker} is recorded twice`);
  let seen = 0;
  let unseen = 0;
  for (const call of calls.all.values()) {
    if (call.seen > 0) seen++;
    const [event] = byMarker.get(call.marker) ?? [];
    if (event === undefined) {
      if (call.seen > 0) calls.violations.push(`${call.marker} reached the provider and is not recorded`);
      continue;
    }
    if (call.seen === 0 && call.wasKilled) unseen++;
    else auditCharge(fleet, call, event);
  }
  calls.violations.push(...(await fleet.ledgerDifferences()));
  return { seen, events: events.length, unseen };
}

function auditCharge(fleet: BudgetFleet, call: PaidCall, { charged, source }: StoredCall): void {
  const { charge, sent, mostTokens, outputNanoUsd, marker } = call;
  if (charge === undefined) {
    fleet.calls.violations.push(`${marker} is recorded and the provider never saw it`);
    return;
  }
  const amount = Number(charged);
  const { heard, least, most } = charge;
  const isExact = least === most && !call.wasKilled;
  const unheard = isExact ? [] : [sent, sent + mostTokens * outputNanoUsd];
  if (heard === undefined ? amount >= sent && amount <= most : [heard, ...unheard].includes(amount)) return;
  fleet.calls.violations.push(
    `${marker} counts ${charged} (${source}) instead of ${heard}, ${least} to ${most}, sent ${sent}`,
  );
}
