import type { operations } from '../api/schema';

export type AuditFilters = Omit<
  NonNullable<operations['listAuditEvents']['parameters']['query']>,
  'limit' | 'before_id'
>;

const DAY_MS = 86_400_000;

/** How far back the trail is read: UTC days up to today. */
export const TIMES = [
  { value: 'any', label: 'Last 90 days' },
  { value: '1', label: 'Today (UTC)' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
] as const;

/** The filters in the address of the page; an empty text matches everything. */
interface AuditAddress {
  readonly action: string;
  readonly person: string;
  readonly time: (typeof TIMES)[number]['value'];
  readonly app: string;
}

/** The query for the filters of an address. */
export function filtersOf({ action, person, time, app }: AuditAddress, nowMs: number): AuditFilters {
  return {
    ...(action === '' ? {} : { action }),
    ...(person === '' ? {} : { actor_id: person }),
    ...(app === '' ? {} : { app_id: app }),
    ...(time === 'any' ? {} : { from: new Date(nowMs - (Number(time) - 1) * DAY_MS).toISOString().slice(0, 10) }),
  };
}
