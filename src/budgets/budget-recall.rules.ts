import type { BudgetKey } from './budget-grants.js';
import { BUDGET_SCOPES } from './budget-hold.js';
import { BUDGET_WINDOWS } from './budget-period.rules.js';

/** A request to return unused grants. */
export interface BudgetRecall {
  /** The requesting instance, which ignores the recall; empty: every instance follows it. */
  readonly instanceId: string;
  readonly appId: string;
  /** Null: every budget of the application. */
  readonly budget: Omit<BudgetKey, 'appId'> | null;
}

/** Encodes a recall as a notification key. */
export function recallKey({ instanceId, appId, budget }: BudgetRecall): string {
  const parts = budget === null ? [] : [budget.scope, budget.subject, budget.window, budget.periodStart];
  return JSON.stringify([instanceId, appId, ...parts]);
}

/** Parses the text of {@link recallKey}. @returns undefined for any other text, which recalls everything. */
export function parseRecall(key: string): BudgetRecall | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(key);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || !parts.every((part) => typeof part === 'string')) return undefined;
  const [instanceId, appId, scope, subject, window, periodStart] = parts;
  if (instanceId === undefined || appId === undefined) return undefined;
  if (parts.length === 2) return { instanceId, appId, budget: null };
  const isKnown = isWord(BUDGET_SCOPES, scope) && isWord(BUDGET_WINDOWS, window);
  if (!isKnown || subject === undefined || periodStart === undefined) return undefined;
  return { instanceId, appId, budget: { scope, subject, window, periodStart } };
}

function isWord<const T extends string>(words: readonly T[], text: string | undefined): text is T {
  return words.some((word) => word === text);
}
