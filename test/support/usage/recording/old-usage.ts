import type { DataSource } from 'typeorm';
import { UsageWritesRepository } from '../../../../src/usage/recording/event/usage-writes.repository.js';
import { anEventOf, arraysOf } from './usage-events.js';

/** What a test says of an event; the rest is the same for all. */
export interface OldEvent {
  readonly app_id: string;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly provider_type?: string;
  readonly model?: string;
  readonly status?: string;
  readonly user_id?: string;
  readonly [field: string]: string | number | undefined;
}

const NOON_MS = 12 * 60 * 60 * 1000;
const MEASURES = ['input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens', 'cost_nano_usd'];

/** Rows as the writer stores them, each at noon of its day. */
export function usageRows(events: readonly OldEvent[], organization_id = 'org-1'): object[] {
  return events.map(({ day, ...event }) =>
    anEventOf({ organization_id, created_at_ms: Date.parse(day) + NOON_MS, cost_source: undefined, ...event }),
  );
}

/** Stores events as the writer does: failed batches are retried. */
export async function storeUsage(db: DataSource, rows: readonly object[]): Promise<void> {
  const writes = new UsageWritesRepository(db);
  for (let failures = 0; ; failures++) {
    try {
      await writes.insert(arraysOf(rows));
      return;
    } catch (error) {
      if (failures === 20) throw error;
    }
  }
}

/** A partition of `usage_events` for each of the UTC months, `YYYY-MM`, where there is none yet. */
export async function makePartitions(db: DataSource, months: readonly string[]): Promise<void> {
  for (const month of months) {
    const [year = 0, number = 0] = month.split('-').map(Number);
    const next = new Date(Date.UTC(year, number)).toISOString().slice(0, 10);
    await db.query(
      `CREATE TABLE IF NOT EXISTS usage_events_${month.replace('-', '_')} PARTITION OF usage_events
       FOR VALUES FROM ('${month}-01 00:00:00+00') TO ('${next} 00:00:00+00')`,
    );
  }
}

/** Totals by what outlasts the events, from sums by day and by month: `app/type/model/status` → counts, as texts. */
export async function keptTotals(db: DataSource): Promise<Record<string, string>> {
  const measures = ['requests', ...MEASURES];
  const rows: { key: string; sums: string }[] = await db.query(
    `SELECT concat_ws('/', app_id, provider_type, model, status) AS key,
       concat_ws(' ', ${measures.map((name) => `sum(${name})`).join(', ')}) AS sums
     FROM (
       SELECT app_id, provider_type, model, status, ${measures.join(', ')} FROM usage_days
       UNION ALL SELECT app_id, provider_type, model, status, ${measures.join(', ')} FROM usage_months) kept
     GROUP BY app_id, provider_type, model, status ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ key, sums }) => [key, sums]));
}

/** The same, added up here from the events themselves. */
export function expectedTotals(rows: readonly object[]): Record<string, string> {
  const sums = new Map<string, bigint[]>();
  for (const row of rows) {
    const key = ['app_id', 'provider_type', 'model', 'status'].map((name) => Reflect.get(row, name)).join('/');
    const counts = [Reflect.get(row, 'requests') ?? 1, ...MEASURES.map((name) => Reflect.get(row, name) ?? 0)];
    const known = sums.get(key) ?? counts.map(() => 0n);
    sums.set(
      key,
      known.map((sum, place) => sum + BigInt(counts[place])),
    );
  }
  return Object.fromEntries([...sums].map(([key, counts]) => [key, counts.join(' ')]).sort());
}
