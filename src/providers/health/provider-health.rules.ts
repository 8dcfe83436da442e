/** What one call says about its provider. Calls that say nothing, such as one that its client ended, are not noted. */
export type CallVerdict = 'good' | 'error' | 'key_refused';

/** Why a provider is failing. */
export type FailingReason = 'key_refused' | 'errors';

/** The calls to a provider that one instance noted since its last report. */
export interface ProviderReport {
  readonly calls: number;
  readonly errors: number;
  readonly isKeyRefused: boolean;
  /** Calls after the last error; all of them without one. */
  readonly goodAtEnd: number;
}

/** Calls within `SLOT_MS`. */
export interface HealthSlot {
  /** Number of the slot since the Unix epoch. */
  readonly slot: number;
  readonly calls: number;
  readonly errors: number;
}

/** What is stored of a provider. */
export interface ProviderHealthState {
  readonly failingReason: FailingReason | null;
  /** Milliseconds since the Unix epoch; null: it is not failing. */
  readonly failingSinceMs: number | null;
  readonly goodInARow: number;
  readonly slots: readonly HealthSlot[];
}

/** What a report changed. */
export interface HealthChange {
  readonly type: 'provider.failing' | 'provider.recovered';
  readonly reason: FailingReason;
  /** Calls of the last minute, and those of them that failed. */
  readonly calls: number;
  readonly errors: number;
}

export const NO_HEALTH: ProviderHealthState = { failingReason: null, failingSinceMs: null, goodInARow: 0, slots: [] };
export const NO_CALLS: ProviderReport = { calls: 0, errors: 0, isKeyRefused: false, goodAtEnd: 0 };

const WINDOW_MS = 60_000;
const SLOT_MS = 5_000;
/** With fewer calls, the share of failures means nothing. */
const LEAST_CALLS = 20;
const FAILING_SHARE = 1 / 2;
const RECOVERED_SHARE = 1 / 10;
/** This many good calls in a row end a failure immediately. */
const GOOD_IN_A_ROW = 20;

/** A report with one more call. */
export function withCall(report: ProviderReport, verdict: CallVerdict): ProviderReport {
  const isGood = verdict === 'good';
  return {
    calls: report.calls + 1,
    errors: report.errors + (isGood ? 0 : 1),
    isKeyRefused: report.isKeyRefused || verdict === 'key_refused',
    goodAtEnd: isGood ? report.goodAtEnd + 1 : 0,
  };
}

/** Two reports of one instance as one. @param later that of the later calls. */
export function joined(earlier: ProviderReport, later: ProviderReport): ProviderReport {
  return {
    calls: earlier.calls + later.calls,
    errors: earlier.errors + later.errors,
    isKeyRefused: earlier.isKeyRefused || later.isKeyRefused,
    goodAtEnd: goodInARow(earlier.goodAtEnd, later),
  };
}

/**
 * Evaluates a provider by a report. It is failing when it refuses its key, or when half of at least 20 calls in 60 s
 * failed. It has recovered after 20 good calls in a row, or when it has failed for 60 s and less than a tenth of the
 * calls of the last 60 s did. What came before a recovery no longer counts.
 *
 * @param nowMs milliseconds since the Unix epoch.
 * @returns the state to store, and what it changed.
 * Source: docs/reference/webhooks.md#failing-providers.
 */
export function judged(
  state: ProviderHealthState,
  report: ProviderReport,
  nowMs: number,
): { readonly state: ProviderHealthState; readonly change: HealthChange | undefined } {
  const slots = slotsWith(state.slots, report, Math.floor(nowMs / SLOT_MS));
  const [calls, errors] = [sumOf(slots, 'calls'), sumOf(slots, 'errors')];
  const counted = { ...state, slots, goodInARow: Math.min(goodInARow(state.goodInARow, report), GOOD_IN_A_ROW) };
  const { failingReason, failingSinceMs } = state;
  if (failingReason !== null && failingSinceMs !== null) {
    const isQuiet = nowMs - failingSinceMs >= WINDOW_MS && calls > 0 && errors < calls * RECOVERED_SHARE;
    if (counted.goodInARow < GOOD_IN_A_ROW && !isQuiet) return { state: counted, change: undefined };
    return { state: NO_HEALTH, change: { type: 'provider.recovered', reason: failingReason, calls, errors } };
  }
  const reason = failureOf(report, calls, errors);
  if (reason === undefined) return { state: counted, change: undefined };
  const failing = { ...counted, failingReason: reason, failingSinceMs: nowMs };
  return { state: failing, change: { type: 'provider.failing', reason, calls, errors } };
}

/** @param calls those of the window, of which `errors` failed. */
function failureOf({ isKeyRefused }: ProviderReport, calls: number, errors: number): FailingReason | undefined {
  if (isKeyRefused) return 'key_refused';
  return calls >= LEAST_CALLS && errors >= calls * FAILING_SHARE ? 'errors' : undefined;
}

function goodInARow(before: number, { errors, calls, goodAtEnd }: ProviderReport): number {
  return errors === 0 ? before + calls : goodAtEnd;
}

/** The slots of the last 60 s, the report in the newest. A clock that goes back adds to the newest one. */
function slotsWith(slots: readonly HealthSlot[], { calls, errors }: ProviderReport, now: number): HealthSlot[] {
  const newest = slots.at(-1);
  const slot = Math.max(now, newest?.slot ?? now);
  const last = newest?.slot === slot ? newest : { slot, calls: 0, errors: 0 };
  const others = slots.filter((one) => one.slot < slot && one.slot > slot - WINDOW_MS / SLOT_MS);
  return [...others, { slot, calls: last.calls + calls, errors: last.errors + errors }];
}

function sumOf(slots: readonly HealthSlot[], member: 'calls' | 'errors'): number {
  return slots.reduce((sum, slot) => sum + slot[member], 0);
}
