import type { Schemas } from '../api/client';

type Change = Schemas['AuditedChangeResponse'];

/** The old or the new value of a change in words. */
export function valueText(change: Pick<Change, 'from' | 'to' | 'redacted'>, side: 'from' | 'to'): string {
  if (change.redacted) return 'not recorded';
  const value = change[side];
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none';
  return Array.isArray(value) ? value.map(String).join(', ') : String(value);
}

/** The details of an entry in one line. */
export function detailsText(details: Readonly<Record<string, unknown>> | null): string {
  return Object.entries(details ?? {})
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ');
}
