import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import type { ApiAnswer } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { idempotencyPair, newCreation, rowsNamed } from '../../support/idempotency/creations.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';
import { startWorld, type World } from '../../support/world.js';

const PATIENCE = { withinMs: 10_000 };
const WAITING = `FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()`;
const LOCKED = `SELECT FROM pg_locks JOIN pg_database one ON one.oid = database
  WHERE datname = current_database() AND relation = 'creation_receipts'::regclass AND mode = 'AccessExclusiveLock'`;

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.stop());

const outcome = ({ status, body }: ApiAnswer) => [status, body.error?.code];

describe('a creation that failed with an unknown result', () => {
  it('its slug is taken, possibly by this request → 503 without a result; the same headers get the result later', async () => {
    const { path, body } = await newCreation(world, 'provider');
    await world.api.post(path, body);
    const headers = idempotencyPair();
    const send = () => world.api.post(path, body, { headers });
    const answer = await withoutReceipts((tx) => tx.query('LOCK TABLE providers'), send);
    expect(outcome(answer)).toEqual([503, 'service_unavailable']);
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect(outcome(await afterTrouble(send))).toEqual([409, 'slug_taken']);
  });

  it('another request was faster → 503 and not 500; the same headers get its answer later', async () => {
    const { path, body } = await newCreation(world, 'provider_gateway');
    const headers = idempotencyPair();
    const send = () => world.api.post(path, body, { headers });
    const first = await send();
    const deleted = 'DELETE FROM creation_receipts RETURNING *';
    const [[receipt]]: [object[], number] = await world.dataSource.query(deleted);
    const again = 'INSERT INTO creation_receipts SELECT * FROM json_populate_record(NULL::creation_receipts, $1)';
    const answer = await withoutReceipts((tx) => tx.query(again, [JSON.stringify(receipt)]), send);
    expect(outcome(answer)).toEqual([503, 'service_unavailable']);
    expect((await afterTrouble(send)).text).toBe(first.text);
    expect(await rowsNamed(world, 'provider_gateway', body.name)).toBe(1);
  });
});

/** The answer once no connection remains whose closure is not detected yet. */
async function afterTrouble(send: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  let answer = await send();
  await eventually(async () => {
    if (answer.status === 503) answer = await send();
    return answer.status !== 503;
  }, PATIENCE);
  return answer;
}

/**
 * Sends a request that waits for the held lock, and cuts its connection when it then looks for its receipt.
 *
 * @param hold the statement whose transaction the request waits for.
 */
async function withoutReceipts(
  hold: (tx: EntityManager) => Promise<unknown>,
  send: () => Promise<ApiAnswer>,
): Promise<ApiAnswer> {
  const { dataSource } = world;
  const finds = async (sql: string) => (await dataSource.query(sql)).length > 0;
  const { answer, cut } = await dataSource.transaction(async (tx) => {
    await hold(tx);
    const sent = send();
    await untilStatementWaits(dataSource);
    const locked = dataSource.transaction(async (other) => {
      await other.query('LOCK TABLE creation_receipts');
      const cutting = `SELECT pg_terminate_backend(pid) ${WAITING} AND query LIKE '%FROM creation_receipts%'`;
      await eventually(() => finds(cutting), PATIENCE);
    });
    await eventually(() => finds(LOCKED), PATIENCE);
    return { answer: sent, cut: locked };
  });
  await cut;
  return answer;
}
