/** A number as a person types it: digits, and a point with more digits; undefined for anything else. */
export function numberOf(text: string): number | undefined {
  const typed = text.trim();
  return /^(?:\d+\.?\d*|\.\d+)$/.test(typed) ? Number(typed) : undefined;
}

/** Why a text is not a number of 0 or more; undefined if it is one. */
export function numberProblem(text: string): string | undefined {
  if (numberOf(text) !== undefined) return undefined;
  return numberOf(text.trim().replace(/^[-−]/, '')) === undefined
    ? 'must be a number, such as 20 or 0.5'
    : 'must be 0 or more';
}

/** A number as the text of a field; empty without one. */
export function textOf(value: number | undefined): string {
  return value === undefined ? '' : String(value);
}
