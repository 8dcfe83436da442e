import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { arraysOfTexts, type EventArrays } from '../../../../src/usage/recording/event/event-arrays.js';
import { UsageWritesRepository } from '../../../../src/usage/recording/event/usage-writes.repository.js';

/** Members of an event as the writer takes them; only what matters to a test is named by it. */
export interface EventMembers {
  readonly organization_id: string;
  readonly app_id: string;
  readonly created_at_ms?: number;
  /** In place of `created_at_ms`, with time zone. */
  readonly at?: string;
  readonly [member: string]: string | number | boolean | null | undefined | Readonly<Record<string, number>>;
}

/** An event of a model that answered, ready to be stored. */
export function anEventOf({ at, ...members }: EventMembers) {
  return {
    event_id: randomUUID(),
    provider_type: 'openai',
    model: 'gpt-4.1',
    route: 'openai/v1/responses',
    status: 'ok',
    cost_source: 'computed',
    ...(at !== undefined && { created_at_ms: Date.parse(at) }),
    ...members,
  };
}

/** Rows as one batch of the writer. */
export function arraysOf(rows: readonly object[]): EventArrays {
  return arraysOfTexts(rows.map((row) => JSON.stringify(row)));
}

/**
 * Stores events the way the service does, with the sums that are kept in step with them: again where the partition of
 * their month was made meanwhile.
 */
export async function storeEvents(dataSource: DataSource, ...events: EventMembers[]): Promise<void> {
  const store = () => new UsageWritesRepository(dataSource).insert(arraysOf(events.map(anEventOf)));
  await store().catch((error: unknown) => {
    if (!String(error).includes('violates partition constraint')) throw error;
    return store();
  });
}
