import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { UsageRefusals } from '../../../src/usage/recording/usage-refusals.service.js';
import { eventually } from '../../support/eventually.js';
import { type FurtherInstance, startFurtherInstance } from '../../support/platform/further-instance.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../support/platform/redis.js';
import {
  type Answer,
  documentedRefusals,
  openTarget,
  ProxyClient,
  read,
  refusalOf,
} from '../../support/proxy/proxy-client.js';
import { MONTHS_OUT_OF_STEP } from '../../support/usage/recording/usage-sums.js';
import { startWorld, type World } from '../../support/world.js';

const RESPONSES = 'v1/responses';
const authentication = { type: 'api_key', end_user: { source: 'header' } };
const BLOCKED = [403, 'auth_required'];

let redis: Pick<TestRedis, 'url' | 'stop'>;
let world: World;
let other: FurtherInstance;
let isDocumented: (answer: Answer) => void;

beforeAll(async () => {
  redis = await reachRedis();
  world = await startWorld({ env: { REDIS_URL: redis.url } });
  isDocumented = documentedRefusals(world);
  other = await startFurtherInstance(world);
});

afterAll(async () => {
  await other.stop();
  await world.stop();
  await redis.stop();
});

const as = (user: string) => ({ body: { model: 'gpt-4.1' }, headers: ['x-end-user-id', user] });

const newClient = () => ProxyClient.create(world, { authentication });

/** A call of the same application to the other instance. */
async function callOther(client: ProxyClient, user: string): Promise<Answer> {
  const call = { ...as(user), credential: ['authorization', `Bearer ${client.key}`] };
  const target = `/v1/apps/${client.appId}/proxy/${client.slug}/${RESPONSES}`;
  return read(await openTarget({ ...world, baseUrl: other.baseUrl }, target, call).head);
}

async function change(client: ProxyClient, user: string, what: 'block' | 'unblock'): Promise<void> {
  const path = `/v1/admin/apps/${client.appId}/users/${encodeURIComponent(user)}/${what}`;
  const { status, text } = await world.api.post(path);
  if (status !== 200) throw new Error(`${what}: ${status} ${text}`);
}

/** One call of a user who may call, and its event: the user is known from now on. */
async function introduce(client: ProxyClient, user: string): Promise<void> {
  expect((await client.call(RESPONSES, as(user))).status).toBe(200);
  await eventually(async () => (await eventsOf(client, user)).length > 0, { withinMs: 10_000 });
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads members of an answer that the OpenAPI check proves
async function eventsOf(client: ProxyClient, user: string): Promise<any[]> {
  return (await world.api.get(`/v1/admin/apps/${client.appId}/events?user=${user}`)).body.events;
}

/** What rows of refusals count, stored up to now. */
async function refusalsOf(client: ProxyClient): Promise<{ rows: number; requests: number }> {
  const [counted] = await world.dataSource.query(
    `SELECT count(*)::int AS rows, coalesce(sum(requests), 0)::int AS requests
     FROM usage_events WHERE app_id = $1 AND status = 'blocked_user'`,
    [client.appId],
  );
  return counted;
}

describeWithRedis('blocked users at admission', () => {
  it('served, then blocked → refused at once, not forwarded; unblocked → served again', async () => {
    const client = await newClient();
    await introduce(client, 'ann');
    await change(client, 'ann', 'block');
    const reached = world.upstream.requests.length;
    const refused = await client.call(RESPONSES, as('ann'));
    expect(refusalOf(refused)).toEqual(BLOCKED);
    isDocumented(refused);
    expect(JSON.parse(refused.body.toString()).error.message).toBe('This user is blocked.');
    expect(world.upstream.requests).toHaveLength(reached);
    expect(client.lines('gateway_error')).toMatchObject([
      { code: 'auth_required', reason: 'user_blocked', status: 403 },
    ]);
    expect((await client.call(RESPONSES, as('bob'))).status).toBe(200);
    await change(client, 'ann', 'unblock');
    expect((await client.call(RESPONSES, as('ann'))).status).toBe(200);
  });

  it('refused → an event blocked_user with the call’s data, without tokens, cost or its source', async () => {
    const client = await newClient();
    await introduce(client, 'ann');
    await change(client, 'ann', 'block');
    const call = as('ann');
    await client.call(RESPONSES, { ...call, headers: [...call.headers, 'x-app-version', '2.0'] });
    await eventually(async () => (await refusalsOf(client)).rows > 0, { withinMs: 10_000 });
    const { body } = await world.api.get(`/v1/admin/apps/${client.appId}/keys`);
    const [{ id, created_at, ...event }] = await eventsOf(client, 'ann');
    expect(event).toEqual({
      app_id: client.appId,
      user_id: 'ann',
      api_key_id: body.keys[0].id,
      provider: 'openai',
      provider_slug: client.slug,
      provider_gateway_id: null,
      provider_gateway_type: null,
      credential_source: 'direct',
      model_author: 'OpenAI',
      served_provider: null,
      served_model: null,
      model: 'gpt-4.1',
      route: `${client.slug}/${RESPONSES}`,
      endpoint_slug: null,
      input_tokens: 0,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 0,
      cost_usd: 0,
      estimated_cost_usd: 0,
      reported_cost_usd: null,
      cost_source: null,
      app_version: '2.0',
      auth_method: 'api_key',
      status: 'blocked_user',
      client_aborted: null,
      latency_ms: null,
      duration_ms: null,
      attempts: null,
      settled_at: null,
      refusal: { code: 'auth_required', reason: 'user_blocked', message: 'This user is blocked.', until: null },
      requests: 1,
    });
  });

  it('thirty refusals → counted exactly, in one row per minute and instance; sums match', async () => {
    const client = await newClient();
    await introduce(client, 'ann');
    await change(client, 'ann', 'block');
    const month = new Date().toISOString().slice(0, 7);
    const answers = await Promise.all(Array.from({ length: 30 }, () => client.call(RESPONSES, as('ann'))));
    expect(answers.map(refusalOf)).toEqual(answers.map(() => BLOCKED));
    await eventually(async () => (await refusalsOf(client)).requests === 30, { withinMs: 10_000 });
    expect((await refusalsOf(client)).rows).toBeLessThanOrEqual(2);
    const { body } = await world.api.get(`/v1/admin/apps/${client.appId}/users/ann?month=${month}`);
    expect(body.user.usage).toMatchObject({ requests: 31, blocked: 30, errors: 0 });
    expect(await world.dataSource.query(MONTHS_OUT_OF_STEP)).toEqual([]);
  });

  it('a call that is refused for another reason → that refusal, recorded as such: admission comes last', async () => {
    const client = await newClient();
    await introduce(client, 'ann');
    await change(client, 'ann', 'block');
    const unpriced = { ...as('ann'), body: { model: 'no-such-model' } };
    expect(refusalOf(await client.call(RESPONSES, unpriced))).toEqual([400, 'pricing_not_configured']);
    await world.gateway.app.get(UsageRefusals).flush();
    expect(await refusalsOf(client)).toEqual({ rows: 0, requests: 0 });
    expect((await eventsOf(client, 'ann'))[0]).toMatchObject({
      ...{ status: 'blocked_policy', refusal: { code: 'pricing_not_configured' } },
    });
  });

  it('blocked at one instance → another refuses within a second, and serves again within a second', async () => {
    const client = await newClient();
    await introduce(client, 'ann');
    expect((await callOther(client, 'ann')).status).toBe(200);
    const answersOf = async (status: number) => (await callOther(client, 'ann')).status === status;
    await change(client, 'ann', 'block');
    await eventually(() => answersOf(403), { withinMs: 10_000 });
    expect((await callOther(client, 'bob')).status).toBe(200);
    await change(client, 'ann', 'unblock');
    await eventually(() => answersOf(200), { withinMs: 10_000 });
  });

  it('stopped right after a refusal → its count is stored', async () => {
    const client = await newClient();
    await introduce(client, 'ann');
    await change(client, 'ann', 'block');
    await eventually(async () => (await callOther(client, 'ann')).status === 403, { withinMs: 10_000 });
    await eventually(async () => (await refusalsOf(client)).requests === 1, { withinMs: 10_000 });
    await Promise.all([callOther(client, 'ann'), callOther(client, 'ann'), callOther(client, 'ann')]);
    await other.stop();
    expect((await refusalsOf(client)).requests).toBe(4);
  });
});
