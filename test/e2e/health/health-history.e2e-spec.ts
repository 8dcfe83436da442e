import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { HealthHistory } from '../../../src/health/history/health-history.service.js';
import { FakeClock } from '../../support/clock.js';
import { type FurtherInstance, startFurtherInstance } from '../../support/platform/further-instance.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../support/platform/redis.js';
import { startWorld, type World } from '../../support/world.js';

const SLOT_MS = 15 * 60_000;
const MINUTE_MS = 60_000;

let redis: Pick<TestRedis, 'url' | 'stop'>;
let clock: FakeClock;
let world: World;
let further: FurtherInstance;

interface History {
  readonly since: string;
  readonly parts: readonly { readonly part: string; readonly failing: readonly (number | null)[] }[];
}

async function history(): Promise<History> {
  return (await world.api.get('/v1/admin/deployment')).body.history;
}

const ofPart = async (part: string) => (await history()).parts.find((one) => one.part === part)?.failing ?? [];
const sample = ({ gateway }: Pick<World, 'gateway'>) => gateway.app.get(HealthHistory, { strict: false }).sample();

describeWithRedis('the history of health', () => {
  beforeAll(async () => {
    redis = await reachRedis();
    clock = new FakeClock(Math.floor(Date.now() / SLOT_MS) * SLOT_MS + MINUTE_MS);
    world = await startWorld({ env: { REDIS_URL: redis.url }, clock });
    further = await startFurtherInstance(world, undefined, { clock });
  });

  afterAll(async () => {
    await further.stop();
    await world.stop();
    await redis.stop();
  });

  it('before the first sample → 96 slots for the day, all unknown', async () => {
    const { since, parts } = await history();
    expect(new Date(Date.parse(since) + 95 * SLOT_MS).toISOString()).toBe(
      new Date(Math.floor(clock.nowMs() / SLOT_MS) * SLOT_MS).toISOString(),
    );
    expect(parts.map(({ part }) => part)).toEqual([
      ...['database', 'redis', 'vault', 'journal', 'configChanges', 'clock', 'limits'],
    ]);
    for (const { failing } of parts) expect(failing).toEqual(Array.from({ length: 96 }, () => null));
  });

  it('samples of two instances → one share per part', async () => {
    await Promise.all([sample(world), sample(further)]);
    expect((await ofPart('database')).at(-1)).toBe(0);
    const [row] = await world.dataSource.query("SELECT samples, failing FROM health_slots WHERE part = 'database'");
    expect(row).toEqual({ samples: 2, failing: 0 });
    await world.dataSource.query("UPDATE health_slots SET failing = 1 WHERE part = 'database'");
    expect((await ofPart('database')).at(-1)).toBe(0.5);
    expect((await ofPart('vault')).at(-1)).toBe(0);
  });

  it('a day later → older samples are deleted', async () => {
    clock.advance(96 * SLOT_MS);
    await sample(world);
    const [{ count }] = await world.dataSource.query('SELECT count(*)::int AS count FROM health_slots');
    expect(count).toBe(7);
    const failing = await ofPart('database');
    expect([failing.at(-1), failing.filter((share) => share !== null).length]).toEqual([0, 1]);
  });
});
