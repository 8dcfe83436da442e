import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { clientOf } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import { addApp, type ChangeClient, newChangeClient, SERVER_APP } from '../../support/mcp/change-client.js';
import { McpTestClient } from '../../support/mcp/mcp-client.js';
import { type FurtherInstance, startFurtherInstance } from '../../support/platform/further-instance.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../support/platform/redis.js';
import { startWorld, type World } from '../../support/world.js';

const MINUTE_MS = 60_000;
/** So few that waiting for a second connection within a transaction would never end. */
const POOL_SIZE = '2';
const ATTEMPTS = 8;

const clock = new FakeClock();
let redis: Pick<TestRedis, 'url' | 'stop'>;
let world: World;
let other: FurtherInstance;
let client: ChangeClient;
let elsewhere: McpTestClient;

describeWithRedis('changes at the same time at two instances', () => {
  beforeAll(async () => {
    redis = await reachRedis();
    world = await startWorld({ clock, env: { REDIS_URL: redis.url, DATABASE_POOL_SIZE: POOL_SIZE } });
    other = await startFurtherInstance(world, undefined, { clock });
  });
  beforeEach(async () => {
    clock.advance(MINUTE_MS);
    client = await newChangeClient(world);
    elsewhere = await McpTestClient.connect(other.baseUrl, client.key);
  });
  afterAll(async () => {
    await other.stop();
    await world.stop();
    await redis.stop();
  });

  /** The same action repeatedly, on both instances in turn. */
  const atOnce = <T>(count: number, act: (at: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, at) => act(at)));

  it('concurrent second calls of one operation → one application, one key, one answer', async () => {
    const { body } = await client.mcp.call('add_app', { config: SERVER_APP });
    const args = { config: SERVER_APP, operation: body.operation };
    const answers = await atOnce(ATTEMPTS, (at) => (at % 2 === 0 ? client.mcp : elsewhere).call('add_app', args));
    const bodies = answers.map((answer) => {
      const { reveal_url: _host, ...rest } = answer.body;
      return JSON.stringify([answer.isError, rest]);
    });
    expect(new Set(bodies).size).toBe(1);
    expect(answers[0]?.body.state).toBe('completed');
    const { body: listed } = await world.as(client.key).get('/v1/admin/apps');
    expect(listed.apps).toHaveLength(1);
    const { body: keys } = await client.mcp.call('list_app_keys', { app: listed.apps[0].id });
    expect(keys.keys).toHaveLength(1);
  });

  it('concurrent reveals of one key → one gets it, the others 409', async () => {
    for (let round = 0; round < 3; round++) {
      const { id } = await addApp(client, `Round ${round}`);
      const path = `/v1/admin/operations/${encodeURIComponent(id)}/reveal`;
      const answers = await atOnce(ATTEMPTS, (at) =>
        clientOf(at % 2 === 0 ? world : other, client.owner.cookie).post(path, {}),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const refused = answers.filter(({ status }) => status !== 200).map(codeOf);
      expect(refused).toEqual(refused.map(() => [409, 'already_revealed']));
      const [{ count }] = await world.dataSource.query(
        "SELECT count(*)::int AS count FROM audit_events WHERE organization_id = $1 AND action = 'app_key.revealed'",
        [client.organizationId],
      );
      expect(count).toBe(round + 1);
    }
  });

  it('concurrent reservations → never more than ten are pending', async () => {
    const answers = await atOnce(16, (at) =>
      (at % 2 === 0 ? client.mcp : elsewhere).call('add_app', { config: { ...SERVER_APP, name: `App ${at}` } }),
    );
    expect(answers.filter(({ isError }) => !isError)).toHaveLength(10);
    expect(answers.filter(({ body }) => body.error === 'rate_limited')).toHaveLength(6);
  });

  it('a second call and the revocation of its credential at once → both or neither, never a key without an application', async () => {
    const { body } = await client.mcp.call('add_app', { config: SERVER_APP });
    const args = { config: SERVER_APP, operation: body.operation };
    const [called] = await Promise.allSettled([
      elsewhere.call('add_app', args),
      client.owner.client.post(`/v1/admin/keys/${client.keyId}/revoke`, {}),
    ]);
    const { body: listed } = await client.owner.client.get('/v1/admin/apps');
    const isDone = called.status === 'fulfilled' && !called.value.isError;
    expect(listed.apps).toHaveLength(isDone ? 1 : 0);
  });
});
