import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import type { ApiAnswer } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import { CREATION_KINDS, idempotencyPair, newCreation, rowsNamed } from '../../support/idempotency/creations.js';
import { PlansFileOnDisk } from '../../support/limits/plans/plans-file.js';
import { type FurtherInstance, startFurtherInstance } from '../../support/platform/further-instance.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../support/platform/redis.js';
import { startWorld, TEST_AUTH_SECRET, type World } from '../../support/world.js';

/** So few that waiting for a second connection within a transaction would never end. */
const POOL_SIZE = 2;
const KEYLESS_APP = {
  authentication: { type: 'api_key' },
  routing: { providers: { mode: 'all' }, model_rewrites: {} },
};
const ROTATED = { AUTH_SECRET: 'a-new-secret-that-replaces-the-old-one', AUTH_SECRET_PREVIOUS: TEST_AUTH_SECRET };

const clock = new FakeClock();
const plansFile = new PlansFileOnDisk();
let redis: Pick<TestRedis, 'url' | 'stop'>;
let world: World;
let other: FurtherInstance;

const outcome = ({ status, body }: ApiAnswer) => [status, body.error?.code];

describeWithRedis('creations sent at the same time to two instances', () => {
  beforeAll(async () => {
    redis = await reachRedis();
    plansFile.write({ default_plan: 'open', plans: { open: { name: 'Open', limits: {} } } });
    const env = { REDIS_URL: redis.url, DATABASE_POOL_SIZE: String(POOL_SIZE), PLANS_FILE: plansFile.path };
    world = await startWorld({ clock, env });
    other = await startFurtherInstance(world, undefined, { clock });
    await world.provider({ slug: 'openai' });
    await world.provider({ slug: 'openai-backup' });
  });

  afterAll(async () => {
    await other.stop();
    await world.stop();
    plansFile.remove();
    await redis.stop();
  });

  /** The same request repeatedly, to both instances in turn. */
  function atOnce(count: number, send: (api: World['api'], index: number) => Promise<ApiAnswer>): Promise<ApiAnswer[]> {
    const clients = [world.api, other.as(world.managementKey)];
    return Promise.all(Array.from({ length: count }, (_, index) => send(clients[index % 2] ?? world.api, index)));
  }

  it.each(CREATION_KINDS)(
    '4 and 16 identical requests of kind %s: all 201 with one body and key, one row',
    async (kind) => {
      for (const count of [4, 16]) {
        const { path, body } = await newCreation(world, kind);
        const headers = idempotencyPair();
        const answers = await atOnce(count, (api) => api.post(path, body, { headers }));
        expect(answers.map(outcome)).toEqual(answers.map(() => [201, undefined]));
        expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
        expect(await rowsNamed(world, kind, body.name)).toBe(1);
      }
    },
  );

  it.each(CREATION_KINDS)(
    '16 different bodies with the same key, of kind %s: one is created, the others get 409 conflict',
    async (kind) => {
      const { path, body } = await newCreation(world, kind);
      const headers = idempotencyPair();
      const answers = await atOnce(16, (api, index) => {
        const slug = kind === 'provider' ? { slug: `${String(body.slug)}-${index}` } : {};
        return api.post(path, { ...body, ...slug, name: `${body.name} ${index}` }, { headers });
      });
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(15).fill(409)]);
      expect(new Set(answers.map(({ body: sent }) => sent.error?.code))).toEqual(new Set([undefined, 'conflict']));
    },
  );

  it('the last place of a ceiling, requested 16 times by the same creation: all 201, and only one place is taken', async () => {
    const { organizationId, key } = await newAccount(world.dataSource);
    await plansFile.hand(world, {
      default_plan: 'open',
      plans: { open: { name: 'Open', limits: {} }, one: { name: 'One', limits: { max_apps: 1 } } },
      accounts: { [organizationId]: { plan: 'one' } },
    });
    const headers = idempotencyPair();
    const body = { name: 'The only one', config: KEYLESS_APP };
    const client = world.as(key);
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => client.post('/v1/admin/apps', body, { headers })),
    );
    expect(answers.map(outcome)).toEqual(answers.map(() => [201, undefined]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const more = await client.post('/v1/admin/apps', body, { headers: idempotencyPair() });
    expect(outcome(more)).toEqual([409, 'billing_plan_limit_reached']);
  });

  it('our secret is rotated: an instance with both returns answers sealed before', async () => {
    const { path, body } = await newCreation(world, 'app_key');
    const headers = idempotencyPair();
    const first = await world.api.post(path, body, { headers });
    const rotated = await startFurtherInstance(world, undefined, { clock, env: ROTATED });
    try {
      expect((await rotated.as(world.managementKey).post(path, body, { headers })).text).toBe(first.text);
    } finally {
      await rotated.stop();
    }
  });
});
