import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../../../src/bootstrap/start.js';
import { RecordedAccountRequests } from '../../../../src/usage/recording/recorded-requests.service.js';
import { UsageRefusals } from '../../../../src/usage/recording/usage-refusals.service.js';
import { firstOrganizationId } from '../../../support/accounts/accounts.js';
import { newPerson } from '../../../support/accounts/people.js';
import { FakeClock } from '../../../support/clock.js';
import { PlansFileOnDisk } from '../../../support/limits/plans/plans-file.js';
import { documentedRefusals, ProxyClient, refusalOf } from '../../../support/proxy/proxy-client.js';
import { plainCompletion } from '../../../support/proxy/upstream.js';
import { json } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, testEnvironment, type World } from '../../../support/world.js';

const STATUS = '/v1/admin/billing/status';
const CHAT = { body: { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hello' }] } };
const LIMIT = 3;
const METERED = {
  default_plan: 'metered',
  plans: { metered: { name: 'Metered', limits: { max_requests_per_month: LIMIT } } },
};
const AT_ONCE = 20;
const DAY_MS = 86_400_000;
const LONGEST_MONTH_MS = 31 * DAY_MS;

const plansFile = new PlansFileOnDisk();
const clock = new FakeClock();
let world: World;
let organizationId: string;

beforeAll(async () => {
  plansFile.write(METERED);
  world = await startWorld({ clock, env: { PLANS_FILE: plansFile.path } });
  organizationId = await firstOrganizationId(world.dataSource);
});

/** Every test starts a new period. */
beforeEach(() => {
  clock.advance(LONGEST_MONTH_MS);
  world.upstream.forget();
  world.upstream.script(json(200, plainCompletion));
});

afterAll(async () => {
  await world.stop();
  plansFile.remove();
});

const call = (client: ProxyClient) => client.call('v1/chat/completions', CHAT);

/** Signs in again: the clock moves by months, and no session lasts that long. */
async function quota() {
  const { client } = await newPerson(world, { organizationId, sessionEndsAt: new Date(clock.nowMs() + DAY_MS) });
  return (await client.get(STATUS)).body.quota;
}

async function useUp(client: ProxyClient): Promise<void> {
  for (let index = 0; index < LIMIT; index++) expect((await call(client)).status).toBe(200);
}

describe('requests of a plan’s period', () => {
  it('twenty calls at once → exactly as many pass as the plan allows; the others get 429 with the period, and are recorded', async () => {
    const client = await ProxyClient.create(world);
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => call(client)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(AT_ONCE - LIMIT);
    expect(world.upstream.requests).toHaveLength(LIMIT);
    const isDocumented = documentedRefusals(world);
    const { resetAt, ...period } = await quota();
    for (const answer of refused) {
      const { code, data } = JSON.parse(answer.body.toString()).error;
      expect([answer.status, code]).toEqual([429, 'billing_request_quota_exceeded']);
      expect(data).toEqual({ ...period, resetAt, limit: LIMIT, used: LIMIT });
      expect(answer.headers['retry-after']).toBe(String(Math.ceil((Date.parse(resetAt) - clock.nowMs()) / 1000)));
      isDocumented(answer);
    }
    const events = await client.events(LIMIT + 1);
    const blocked = events.filter(({ status }) => status === 'blocked_billing');
    expect(blocked).toMatchObject([{ cost_usd: 0 }]);
    // A count that grew after it was first stored is updated within a second.
    await world.gateway.app.get(UsageRefusals).flush();
    const sql =
      "SELECT sum(requests)::int AS requests FROM usage_days WHERE app_id = $1 AND status = 'blocked_billing'";
    expect(await world.dataSource.query(sql, [client.appId])).toEqual([{ requests: AT_ONCE - LIMIT }]);
    expect((await quota()).used).toBe(LIMIT);
  });

  it('all applications of the account → share the plan', async () => {
    const [one, other] = [await ProxyClient.create(world), await ProxyClient.create(world)];
    await useUp(one);
    expect((await call(other)).status).toBe(429);
  });

  it('a millisecond before the period ends → refused, with Retry-After 1; when it has ended → passes', async () => {
    const client = await ProxyClient.create(world);
    await useUp(client);
    clock.advance(Date.parse((await quota()).resetAt) - clock.nowMs() - 1);
    const last = await call(client);
    expect([last.status, last.headers['retry-after']]).toEqual([429, '1']);
    clock.advance(1);
    expect((await call(client)).status).toBe(200);
    expect((await quota()).used).toBe(1);
  });

  it('calls that a later limit refuses → are not counted against the plan', async () => {
    const client = await ProxyClient.create(world, { limits: { per_app: { requests: { per_minute: 1 } } } });
    expect((await call(client)).status).toBe(200);
    for (let index = 0; index < LIMIT; index++) {
      const answer = await call(client);
      expect([answer.status, JSON.parse(answer.body.toString()).error.code]).toEqual([429, 'app_rate_limited']);
    }
    expect((await quota()).used).toBe(1);
  });

  it('calls that the policy refuses → are not counted; calls that fail at the provider are', async () => {
    const client = await ProxyClient.create(world, { policy: { allowed_models: ['gpt-4.1'] } });
    const refused = await client.call('v1/chat/completions', { body: { ...CHAT.body, model: 'gpt-4o' } });
    expect(refusalOf(refused)).toEqual([403, 'model_not_allowed']);
    expect((await quota()).used).toBe(0);
    world.upstream.script(({ response }) => void response.writeHead(500).end());
    expect((await call(client)).status).toBe(500);
    expect((await quota()).used).toBe(1);
  });

  it('stored requests → counted for the account from a day on, refused ones not', async () => {
    const client = await ProxyClient.create(world);
    await useUp(client);
    expect((await call(client)).status).toBe(429);
    await client.events(LIMIT + 1);
    const recorded = world.gateway.app.get(RecordedAccountRequests, { strict: false });
    expect(await recorded.countSince(organizationId, clock.utcDay())).toBe(LIMIT);
    expect(await recorded.countSince('another', clock.utcDay())).toBe(0);
    clock.advance(86_400_000);
    expect(await recorded.countSince(organizationId, clock.utcDay())).toBe(0);
  });

  it('the plan is removed → 402, recorded; the plan is back → calls pass', async () => {
    const client = await ProxyClient.create(world);
    await plansFile.hand(world, { ...METERED, default_plan: null });
    expect(refusalOf(await call(client))).toEqual([402, 'billing_payment_required']);
    expect(await client.events(1)).toMatchObject([{ status: 'blocked_billing', cost_usd: 0 }]);
    await plansFile.hand(world, METERED);
    expect((await call(client)).status).toBe(200);
  });

  it('a restart → earlier calls still count', async () => {
    const client = await ProxyClient.create(world);
    await useUp(client);
    await world.gateway.stop('test');
    const again = await startGateway(
      {
        ...testEnvironment(world.databaseUrl, world.dataDir, world.managementKey),
        PORT: new URL(world.baseUrl).port,
        PLANS_FILE: plansFile.path,
      },
      { clock, log: () => undefined },
    );
    try {
      expect((await call(client)).status).toBe(429);
    } finally {
      await again.stop('test');
    }
  });
});
