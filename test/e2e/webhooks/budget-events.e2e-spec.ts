import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firstOrganizationId, newMember } from '../../support/accounts/accounts.js';
import { eventually } from '../../support/eventually.js';
import { LimitedApp } from '../../support/limits/requests/limited-app.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';
import { RESPONSE_USD } from '../../support/proxy/endpoint-chain.js';
import { type ReceivedEvent, startReceiver, type WebhookReceiver } from '../../support/webhooks/receiver.js';
import { startWorld, type World } from '../../support/world.js';

let world: World;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await startReceiver();
  world = await startWorld({ env: { REDIS_URL: '' } });
});

afterAll(async () => {
  await world.stop();
  await receiver.stop();
});

let places = 0;

/** An application with limits, and a webhook for its budgets. */
async function watchedApp(limits: Record<string, unknown>, events: readonly string[] = ['budget.*']) {
  const app = await LimitedApp.create(world, limits);
  const place = `/budget-${++places}`;
  const body = { url: receiver.url + place, events, apps: [app.client.appId] };
  const { status, text } = await world.api.post('/v1/admin/webhooks', body);
  if (status !== 201) throw new Error(`webhook: ${status} ${text}`);
  return { app, place };
}

/** The events about a budget, in the order of arrival. */
const toldOf = (events: readonly ReceivedEvent[]) =>
  events.map(({ body: { type, data } }) => [type, data.scope, data.id, data.window, data.threshold]);

/** The stored events of an application, delivered or not, by type and threshold. */
async function stored(app: LimitedApp): Promise<unknown[][]> {
  const rows: { told: unknown[] }[] = await world.dataSource.query(
    `SELECT json_build_array(type, data -> 'scope', data -> 'id', data -> 'window', data -> 'threshold') AS told
     FROM (SELECT type, body::json -> 'data' AS data FROM webhook_events) event
     WHERE data ->> 'app' = $1 ORDER BY data ->> 'scope', (data ->> 'threshold')::numeric, type`,
    [app.client.appId],
  );
  return rows.map(({ told }) => told);
}

const REACHED = 'budget.threshold_reached';
const EXHAUSTED = 'budget.exhausted';

describe('events of budgets', () => {
  it('calls cross the default thresholds of a budget → one event each, ascending, with the amount spent; then exhausted', async () => {
    const { app, place } = await watchedApp({ per_user: { spending: { daily_usd: 0.018 } } });
    for (const count of [1, 2, 3]) {
      await app.calls(1);
      await app.recorded('ok', count);
    }
    const events = await receiver.until(place, 4);
    expect(toldOf(events)).toEqual([
      [REACHED, 'user', 'ann', 'day', 0.5],
      [REACHED, 'user', 'ann', 'day', 0.8],
      [REACHED, 'user', 'ann', 'day', 1],
      [EXHAUSTED, 'user', 'ann', 'day', 1],
    ]);
    const today = `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`;
    expect(events[0]?.body.data).toEqual({
      account: expect.any(String),
      app: app.client.appId,
      ...{ scope: 'user', group: null, id: 'ann', window: 'day', period_start: today, threshold: 0.5 },
      ...{ budget_usd: 0.018, spent_usd: 2 * RESPONSE_USD, estimated_usd: 0 },
    });
    expect(new Set(events.map(({ headers }) => headers['webhook-id'])).size).toBe(4);
  });

  it('one call crosses every threshold of the budgets of its user and its application → one event for each', async () => {
    const spending = { monthly_usd: 0.001, thresholds: [0.25, 0.75] };
    const { app, place } = await watchedApp({ per_user: { spending }, per_app: { spending: { total_usd: 0.002 } } });
    await app.calls(1);
    const events = await receiver.until(place, 7);
    expect(toldOf(events).filter(([, scope]) => scope === 'user')).toEqual([
      [REACHED, 'user', 'ann', 'month', 0.25],
      [REACHED, 'user', 'ann', 'month', 0.75],
      [EXHAUSTED, 'user', 'ann', 'month', 1],
    ]);
    const ofApp = events.filter(({ body }) => body.data.scope === 'app');
    expect(toldOf(ofApp).map(([type, , id, window, threshold]) => [type, id, window, threshold])).toEqual([
      [REACHED, app.client.appId, 'total', 0.5],
      [REACHED, app.client.appId, 'total', 0.8],
      [REACHED, app.client.appId, 'total', 1],
      [EXHAUSTED, app.client.appId, 'total', 1],
    ]);
    expect(ofApp[0]?.body.data.period_start).toBeNull();
  });

  it('a budget is lowered below what is spent → each crossed threshold and exhausted, once, with the change', async () => {
    const budgets = (user: number, ofApp: object) => ({
      per_user: { spending: { weekly_usd: user } },
      per_app: { spending: ofApp },
    });
    const { app, place } = await watchedApp(budgets(9, { total_usd: 8, monthly_usd: null }));
    await app.calls(1);
    await app.recorded('ok', 1);
    expect(await stored(app)).toEqual([]);
    await app.limit(budgets(0.01, { total_usd: 7, monthly_usd: 0.005, thresholds: [0.5] }));
    const events = [
      [REACHED, 'app', app.client.appId, 'month', 0.5],
      [EXHAUSTED, 'app', app.client.appId, 'month', 1],
      [REACHED, 'user', 'ann', 'week', 0.5],
    ];
    // No call and no wait: they exist when the change is answered.
    expect(await stored(app)).toEqual(events);
    expect(toldOf(await receiver.until(place, 3)).toSorted()).toEqual(events.toSorted());
    await app.limit(budgets(9, { total_usd: 7, monthly_usd: 0.011, thresholds: [0.5] }));
    await app.limit(budgets(0.01, { total_usd: 7, monthly_usd: 0.005, thresholds: [0.5] }));
    expect(await stored(app)).toEqual(events);
    await app.limit(budgets(0.01, { total_usd: 7, monthly_usd: 0.005, thresholds: [0.25, 0.5] }));
    expect(await stored(app)).toEqual([[REACHED, 'app', app.client.appId, 'month', 0.25], ...events]);
  });

  it('a call that is stored while a budget is lowered → included in the change, which waits for it', async () => {
    const { app } = await watchedApp({ per_app: { spending: { total_usd: 9 } } });
    await app.calls(1);
    await app.recorded('ok', 1);
    const charge = world.dataSource.createQueryRunner();
    await charge.startTransaction();
    try {
      await charge.query(
        `UPDATE budget_periods SET spent_nano_usd = spent_nano_usd + 3000000000
         WHERE app_id = $1 AND scope = 'app' AND window_name = 'total'`,
        [app.client.appId],
      );
      const lowered = app.limit({ per_app: { spending: { total_usd: 2, thresholds: [1] } } });
      await untilStatementWaits(world.dataSource, 'WITH watched AS MATERIALIZED');
      await charge.commitTransaction();
      await lowered;
    } finally {
      await charge.release();
    }
    expect((await stored(app)).map(([type]) => type)).toEqual([EXHAUSTED, REACHED]);
  });

  it('a filter of types → only those; a budget of zero, and one that is not reached → none', async () => {
    const { app, place } = await watchedApp({ per_user: { spending: { weekly_usd: 0.001, monthly_usd: 9 } } }, [
      EXHAUSTED,
    ]);
    await app.calls(1);
    expect(toldOf(await receiver.until(place, 1))).toEqual([[EXHAUSTED, 'user', 'ann', 'week', 1]]);
    await app.limit({ per_user: { spending: { monthly_usd: 0 } } });
    expect((await app.refused()).code).toBe('app_budget_exhausted');
    const [{ count }] = await world.dataSource.query(
      `SELECT count(*)::int AS count FROM webhook_events WHERE body::json #>> '{data,app}' = $1`,
      [app.client.appId],
    );
    expect(count).toBe(1);
  });

  it('the budget of a run is spent → one event with its id, its start and its amount; a second run with the same id → another event', async () => {
    const { app, place } = await watchedApp({ runs: { max_usd: 0.03 } });
    const call = (user: string, ...amount: string[]) =>
      app.call(user, { headers: ['x-end-user-id', user, 'x-run-id', 'loop 1', ...amount] });
    const before = Date.now();
    expect((await call('ann', 'x-run-budget-usd', '0.01')).status).toBe(200);
    await app.recorded('ok', 1);
    expect(await stored(app)).toEqual([]);
    expect((await call('ann')).status).toBe(200);
    await app.recorded('ok', 2);
    const [told] = await receiver.until(place, 1);
    expect(told?.body).toMatchObject({
      type: EXHAUSTED,
      data: {
        ...{ app: app.client.appId, scope: 'run', group: null, id: 'loop 1', window: 'run', threshold: 1 },
        ...{ budget_usd: 0.01, spent_usd: 2 * RESPONSE_USD, estimated_usd: 0 },
      },
    });
    const startedMs = Date.parse(String(told?.body.data.period_start));
    expect(startedMs).toBeGreaterThanOrEqual(before - 2_000);
    expect(startedMs).toBeLessThanOrEqual(Date.now() + 2_000);
    // Another user's run with the same id has its own amount, the maximum of the application.
    for (const count of [3, 4, 5, 6, 7]) {
      await call('bob');
      await app.recorded('ok', count);
    }
    const [, other] = await receiver.until(place, 2);
    expect(other?.body.data).toMatchObject({ id: 'loop 1', budget_usd: 0.03, spent_usd: 5 * RESPONSE_USD });
    expect(await stored(app)).toHaveLength(2);
  });

  it('no webhook, but a member who subscribed to mails about budgets → a mail for each event', async () => {
    const app = await LimitedApp.create(world, { per_user: { spending: { daily_usd: 0.001, thresholds: [1] } } });
    const { identityId } = await newMember(world.dataSource, await firstOrganizationId(world.dataSource), {});
    await world.dataSource.query(
      `INSERT INTO mail_subscriptions
       SELECT organization_id, identity_id, ARRAY['budget.*'], now() FROM memberships WHERE identity_id = $1`,
      [identityId],
    );
    await world.dataSource.query('UPDATE webhooks SET enabled = false');
    await app.calls(1);
    const told = async () => {
      const rows: { type: string }[] = await world.dataSource.query(
        `SELECT event.type FROM mails JOIN webhook_events event ON event.id = mails.event_id
         WHERE mails.identity_id = $1 ORDER BY mails.id`,
        [identityId],
      );
      return rows.map(({ type }) => type);
    };
    await eventually(async () => (await told()).length === 2, { withinMs: 60_000 });
    expect(await told()).toEqual([REACHED, EXHAUSTED]);
  });
});
