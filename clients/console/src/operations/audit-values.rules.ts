import type { Schemas } from '../api/client';
import { nameIn } from './audit-sentence.rules';

type Change = Schemas['AuditedChangeResponse'];

/** The members of an entry that its details are shown by. */
interface Entry {
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly changes: readonly unknown[];
}

/** The old or the new value of a change in words. */
export function valueText(change: Pick<Change, 'from' | 'to' | 'redacted'>, side: 'from' | 'to'): string {
  if (change.redacted) return 'not recorded';
  const value = change[side];
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none';
  return Array.isArray(value) ? value.map(String).join(', ') : String(value);
}

/** The details that neither the sentence of an entry nor its changes show. */
export function furtherDetails({ details, changes }: Entry): Readonly<Record<string, unknown>> {
  const shown = [nameIn(details)?.member, ...(changes.length === 0 ? [] : ['from', 'to'])];
  return Object.fromEntries(Object.entries(details ?? {}).filter(([member]) => !shown.includes(member)));
}

/** The details of an entry in one line. */
export function detailsText(details: Readonly<Record<string, unknown>> | null): string {
  return Object.entries(details ?? {})
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ');
}
