import type { DataSource } from 'typeorm';
import { batchOfTexts } from '../../../src/usage/event/event-batch.js';
import { UsageWritesRepository } from '../../../src/usage/event/usage-writes.repository.js';

/** An event by the names of its columns; only what matters to a test is named by it. */
export interface StoredUsage {
  readonly app_id: string;
  readonly organization_id: string;
  /** With time zone. */
  readonly at: string;
  readonly [column: string]: string | number;
}

let events = 0;

/** The event as the service writes it down, with an id of its own. */
export function storedUsage({ at, ...members }: StoredUsage): string {
  const kind = { provider_type: 'openai', model: 'gpt-4.1', route: 'openai/v1/responses', status: 'ok' };
  return JSON.stringify({ event_id: `stored-${++events}`, created_at_ms: Date.parse(at), ...kind, ...members });
}

/** Stores events as the service does, in order, with the sums that are kept in step with them. */
export async function storeUsage(dataSource: DataSource, rows: readonly StoredUsage[]): Promise<void> {
  await new UsageWritesRepository(dataSource).insert(batchOfTexts(rows.map(storedUsage)));
}
