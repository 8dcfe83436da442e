/** The state of a slot: without a sample, working, failing in some samples, failing in most. */
export type SlotLook = 'unknown' | 'good' | 'some' | 'bad';

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

export function slotLook(share: number | null): SlotLook {
  if (share === null) return 'unknown';
  if (share === 0) return 'good';
  return share < 0.5 ? 'some' : 'bad';
}

/** The day in a sentence, in the time zone of the reader. */
export function dayText(sinceMs: number, slotSeconds: number, failing: readonly (number | null)[]): string {
  const known = failing.filter((share) => share !== null);
  if (known.length === 0) return 'No history yet: the first sample comes within a minute.';
  const bad = known.filter((share) => share > 0);
  if (bad.length === 0) return 'No failure in the last 24 hours.';
  const last = failing.findLastIndex((share) => share !== null && share > 0);
  const at = clock.format(new Date(sinceMs + last * slotSeconds * 1_000));
  return `Failures in ${bad.length} of ${known.length} quarter-hours of the last 24 hours, the last one from ${at}.`;
}
