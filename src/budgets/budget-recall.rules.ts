/** A request to return unused grants. */
export interface BudgetRecall {
  /** The requesting instance, which ignores the recall; empty: every instance follows it. */
  readonly instanceId: string;
  readonly appId: string;
  /** Empty: the whole application; null: the application and all its users. */
  readonly userId: string | null;
  /** First day of a UTC month, `YYYY-MM-DD`. */
  readonly month: string;
}

/** Encodes a recall as a notification key. */
export function recallKey({ instanceId, appId, userId, month }: BudgetRecall): string {
  return JSON.stringify([instanceId, appId, userId, month]);
}

/** Parses the text of {@link recallKey}. @returns undefined for any other text, which recalls everything. */
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
