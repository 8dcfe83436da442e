/** A number as a person types it: digits, and a point with more digits; undefined for anything else. */
export function numberOf(text: string): number | undefined {
  const typed = text.trim();
  return /^(?:\d+\.?\d*|\.\d+)$/.test(typed) ? Number(typed) : undefined;
}

/** A number as the text of a field; empty without one. */
export function textOf(value: number | undefined): string {
  return value === undefined ? '' : String(value);
}
