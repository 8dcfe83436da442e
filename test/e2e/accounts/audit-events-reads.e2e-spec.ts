import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { type AuditEventFilter, AuditEventsRepository } from '../../../src/accounts/audit/audit-events.repository.js';
import { startWorld, type World } from '../../support/world.js';

const ACCOUNT = 'busy';
const ENTRIES = 30_000;
const DAYS = 60;
const LIMIT = 50;

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

let world: World;
let plan: PlanNode;
let repository: AuditEventsRepository;

beforeAll(async () => {
  world = await startWorld();
  // One entry in three hundred is of the rare action, actor and application, all of them among the oldest.
  await world.dataSource.query(
    `INSERT INTO audit_events (organization_id, created_at, action, actor_id, actor_kind, credential_type,
       action_source, target_type, target_id, app_id)
     SELECT $1, '2026-09-01'::timestamptz + n * interval '1 day' * $3 / $2, kind, kind, 'human', 'session', 'web', 'app',
       'some', kind
     FROM generate_series(0, $2::integer - 1) AS n, LATERAL (SELECT CASE WHEN n < $2::integer / 300 THEN 'rare' ELSE 'common' END) AS as_is(kind)`,
    [ACCOUNT, ENTRIES, DAYS],
  );
  await world.dataSource.query('ANALYZE audit_events');
  const query = async (sql: string, parameters?: unknown[]) => {
    const [row] = await world.dataSource.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, parameters);
    plan = row['QUERY PLAN'][0].Plan;
    return [];
  };
  const explaining: DataSource = Object.create(world.dataSource, { query: { value: query } });
  repository = new AuditEventsRepository(explaining);
});

afterAll(() => world.stop());

/** Entries that Postgres read, including those that it filtered out. */
function readBy(node: PlanNode): number {
  const own = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
  const inside = (node.Plans ?? []).map(readBy).reduce((sum, rows) => sum + rows, 0);
  return inside + (node['Relation Name'] === 'audit_events' ? own * node['Actual Loops'] : 0);
}

describe('a page of a long trail', () => {
  it.each<[string, Partial<AuditEventFilter>, number]>([
    ['the newest', {}, LIMIT],
    ['in the middle', { beforeId: ENTRIES / 2 }, LIMIT],
    ['of an action done long ago', { action: 'rare' }, LIMIT],
    ['of an actor who acted long ago', { actorId: 'rare' }, LIMIT],
    ['of an application used long ago', { appId: 'rare' }, LIMIT],
    ['of the first day', { days: { from: '2026-09-01', to: '2026-09-01' } }, LIMIT],
    ['of thirty days', { days: { from: '2026-09-10', to: '2026-10-09' } }, 30 * LIMIT],
  ])('%s → reads no more entries than can be on it, by day', async (_name, asked, most) => {
    const any = { action: undefined, actorId: undefined, appId: undefined, beforeId: undefined, days: undefined };
    await repository.list(ACCOUNT, { limit: LIMIT, ...any, ...asked });
    // The first and the last day with an event are looked up too.
    expect(readBy(plan)).toBeLessThanOrEqual(most + 2);
    expect(readBy(plan)).toBeGreaterThanOrEqual(LIMIT);
  });
});
