/** What is to be given back. */
export interface BudgetRecall {
  /** Who asks, and so need not; empty: all are asked. */
  readonly instanceId: string;
  readonly appId: string;
  /** Empty: of the application as a whole; null: of the application and all its users. */
  readonly userId: string | null;
  /** First day of a UTC month, `YYYY-MM-DD`. */
  readonly month: string;
}

/** A recall as the key of a notification. */
export function recallKey({ instanceId, appId, userId, month }: BudgetRecall): string {
  return JSON.stringify([instanceId, appId, userId, month]);
}

/** Reads {@link recallKey}'s text. @returns undefined for any other, which recalls everything. */
export function parseRecall(key: string): BudgetRecall | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(key);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts)) return undefined;
  const [instanceId, appId, userId, month]: unknown[] = parts;
  if (typeof instanceId !== 'string' || typeof appId !== 'string' || typeof month !== 'string') return undefined;
  return typeof userId === 'string' || userId === null ? { instanceId, appId, userId, month } : undefined;
}
