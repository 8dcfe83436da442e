import type { DataSource } from 'typeorm';
import { UsageWritesRepository } from '../../src/usage/event/usage-writes.repository.js';

/** An event by the names of its columns; only what matters to a test is named by it. */
interface StoredUsage {
  readonly app_id: string;
  readonly organization_id: string;
  /** With time zone. */
  readonly at: string;
  readonly [column: string]: string | number;
}

let events = 0;

/** Stores events as the service does, in order, with the sums that are kept in step with them. */
export async function storeUsage(dataSource: DataSource, rows: readonly StoredUsage[]): Promise<void> {
  const kind = { provider_type: 'openai', model: 'gpt-4.1', route: 'openai/v1/responses', status: 'ok' };
  const stored = rows.map(({ at, ...row }) => ({
    event_id: `stored-${++events}`,
    created_at_ms: Date.parse(at),
    ...kind,
    ...row,
  }));
  await new UsageWritesRepository(dataSource).insert(JSON.stringify(stored));
}
