import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { AuditTrail } from '../../../src/accounts/audit/audit-trail.js';
import { RisingCounts } from '../../../src/attention/rising-counts.service.js';
import { DeviceKeysService } from '../../../src/client-auth/devices/device-keys.service.js';
import { ProviderHealth } from '../../../src/providers/health/provider-health.service.js';
import { UsageRefusals } from '../../../src/usage/recording/usage-refusals.service.js';
import { AuditedEventData } from '../../../src/webhooks/dto/event-data.js';
import { EVENT_TYPES } from '../../../src/webhooks/event-types.js';
import { WebhookSender } from '../../../src/webhooks/webhook-sender.service.js';
import { firstOrganizationId, newAccount } from '../../support/accounts/accounts.js';
import type { ApiClient } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { type FurtherInstance, startFurtherInstance } from '../../support/platform/further-instance.js';
import { describeWithRedis, reachRedis } from '../../support/platform/redis.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { type ReceivedEvent, startReceiver, type WebhookReceiver } from '../../support/webhooks/receiver.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/webhooks';
/** Noon, so that a test ends on the day it began. */
const NOON = Date.UTC(2030, 0, 15, 12, 0, 20);
const MINUTE_MS = 60_000;
const CALL = { body: { model: 'gpt-4.1' } };
const NAMED_USERS = { type: 'api_key', end_user: { source: 'header' } };
const EVENT_ID = /^evt_[0-9a-z]{32}$/;

describeWithRedis('events of two instances', () => {
  const clock = new FakeClock(NOON);
  let redis: Awaited<ReturnType<typeof reachRedis>>;
  let receiver: WebhookReceiver;
  let world: World;
  let second: FurtherInstance;
  let account: string;
  let places = 0;
  /** Gets every event of another account. */
  let stranger: string;

  beforeAll(async () => {
    redis = await reachRedis();
    receiver = await startReceiver();
    world = await startWorld({ clock, env: { REDIS_URL: redis.url } });
    second = await startFurtherInstance(world, undefined, { clock });
    account = await firstOrganizationId(world.dataSource);
    stranger = await webhook({}, world.as((await newAccount(world.dataSource)).key));
  });

  afterAll(async () => {
    const strange = receiver.received.filter(({ path, body }) => path === stranger && body.type !== 'webhook.created');
    await second.stop();
    await world.stop();
    await receiver.stop();
    await redis.stop();
    expect(strange).toEqual([]);
  });

  /** A webhook with a separate path. */
  async function webhook(filters: object, client: ApiClient = world.api): Promise<string> {
    const place = `/hook-${++places}`;
    const { status, text } = await client.post(PATH, { url: receiver.url + place, ...filters });
    if (status !== 201) throw new Error(`webhook: ${status} ${text}`);
    return place;
  }

  const both = () => [world.gateway.app, second.gateway.app];

  /** Everything received at a path, once all due events have been delivered. */
  async function allAt(place: string): Promise<readonly ReceivedEvent[]> {
    const due = "SELECT FROM webhook_deliveries WHERE status = 'pending' AND next_attempt_at <= $1";
    await eventually(
      async () => {
        await Promise.all(both().map((app) => app.get(WebhookSender).look()));
        return (await world.dataSource.query(due, [clock.now()])).length === 0;
      },
      { withinMs: 60_000 },
    );
    const events = receiver.received.filter(({ path }) => path === place);
    const ids = events.map(({ headers }) => String(headers['webhook-id']));
    expect(ids.filter((id) => !EVENT_ID.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    return events;
  }

  async function dataAt(place: string): Promise<object[]> {
    return (await allAt(place)).map(({ body: { type, data } }) => ({ type, ...data }));
  }

  const at = (instance: FurtherInstance | World, { appId, key, slug, providerId }: ProxyClient) =>
    new ProxyClient({ ...world, ...instance }, appId, key, slug, providerId);

  async function refuse(client: ProxyClient, times: number, user: string): Promise<void> {
    for (let time = 0; time < times; time++) {
      for (const instance of [world, second]) {
        const answer = await at(instance, client).call('v1/responses', { ...CALL, headers: ['x-end-user-id', user] });
        if (answer.status !== 429 && time > 0) throw new Error(`not refused: ${answer.status}`);
      }
    }
    for (const app of both()) await app.get(UsageRefusals).flush();
  }

  it('a limit that refuses many calls → one event per identity and window, only for the filtered applications', async () => {
    const limits = { per_user: { requests: { per_minute: 1 } }, per_app: { requests: { per_day: 3 } } };
    const client = await ProxyClient.create(world, { authentication: NAMED_USERS, limits });
    const other = await ProxyClient.create(world, { authentication: NAMED_USERS, limits });
    const [one, prefixed, elsewhere] = [
      await webhook({ events: ['limit.exhausted'], apps: [client.appId] }),
      await webhook({ events: ['limit.*'], apps: [client.appId] }),
      await webhook({ events: ['provider.*', 'app.*'], apps: [client.appId] }),
    ];
    await refuse(other, 2, 'elsewhere');
    await refuse(client, 3, 'ann');
    await refuse(client, 3, 'bob');
    clock.advance(MINUTE_MS);
    await refuse(client, 3, 'ann');
    await refuse(client, 3, 'zed');
    const of = (scope: string, id: string, window: string, period: string) => ({
      ...{ type: 'limit.exhausted', account, app: client.appId, scope, id, window },
      limit: 'requests',
      period_start: `2030-01-15T${period}:00.000Z`,
    });
    const expected = [
      of('user', 'ann', 'minute', '12:00'),
      of('user', 'bob', 'minute', '12:00'),
      of('user', 'ann', 'minute', '12:01'),
      of('app', client.appId, 'day', '00:00'),
    ];
    const seen = await dataAt(one);
    expect(seen).toEqual(expect.arrayContaining(expected));
    expect(seen).toHaveLength(expected.length);
    expect(await dataAt(prefixed)).toEqual(expect.arrayContaining(expected));
    expect(await allAt(elsewhere)).toEqual([]);
  });

  /** Calls of both instances in turn, all recorded. */
  async function call(client: ProxyClient, times: number, status: number): Promise<void> {
    world.upstream.script(json(status, status === 200 ? {} : { error: 'refused' }));
    for (let time = 0; time < times; time++)
      await at(time % 2 === 0 ? world : second, client).call('v1/responses', CALL);
    for (const app of both()) await app.get(ProviderHealth).flush();
  }

  async function failingItems(): Promise<string[]> {
    const { items } = (await world.api.get('/v1/admin/attention')).body;
    return items
      .filter(({ kind }: { kind: string }) => kind === 'provider_failing')
      .map(({ id }: { id: string }) => id);
  }

  it('half of the calls of both instances fail, then none → failing once, then recovered once', async () => {
    const client = await ProxyClient.create(world);
    const place = await webhook({ events: ['provider.failing', 'provider.recovered'] });
    await call(client, 10, 200);
    await call(client, 9, 500);
    expect(await allAt(place)).toEqual([]);
    await call(client, 11, 500);
    await call(client, 20, 500);
    // The page agrees with the event, although earlier calls succeeded.
    expect(await failingItems()).toEqual([client.providerId]);
    const provider = { id: client.providerId, slug: client.slug, name: expect.any(String) };
    const failing = { type: 'provider.failing', account, provider, reason: 'errors' };
    expect(await dataAt(place)).toEqual([expect.objectContaining({ ...failing, calls: expect.any(Number) })]);
    await call(client, 20, 200);
    await call(client, 5, 200);
    expect(await failingItems()).toEqual([]);
    expect(await dataAt(place)).toEqual([
      expect.objectContaining(failing),
      expect.objectContaining({ type: 'provider.recovered', account, provider, reason: 'errors' }),
    ]);
  });

  it('the key is refused → failing at once; client errors → no event', async () => {
    const [client, innocent] = [await ProxyClient.create(world), await ProxyClient.create(world)];
    const place = await webhook({ events: ['provider.*'] });
    await call(innocent, 30, 400);
    await call(client, 2, 401);
    expect(await dataAt(place)).toEqual([
      expect.objectContaining({
        ...{ type: 'provider.failing', reason: 'key_refused' },
        provider: expect.objectContaining({ id: client.providerId }),
      }),
    ]);
  });

  it('the provider is deleted while its calls are recorded → no event and no error', async () => {
    const client = await ProxyClient.create(world);
    world.upstream.script(json(401, {}));
    await world.dataSource.query('DELETE FROM providers WHERE id = $1', [client.providerId]);
    both()[0]?.get(ProviderHealth).note(client.providerId, 'key_refused');
    await both()[0]?.get(ProviderHealth).flush();
    expect(world.logs.filter(({ message }) => message === 'provider_health_write_failed')).toEqual([]);
  });

  it('more refused sign-ins and unresolved costs than usual → one event per application and hour', async () => {
    const [usual, rising] = [await world.app(), await world.app()];
    const place = await webhook({ events: ['sign_in.*', 'usage.unresolved_rising'] });
    /** Whichever hour it is by the database clock at the check. */
    const hours = ['0 hours', '1 hour'];
    const store = async (app: string, count: number, daysAgo: number) => {
      for (const hour of hours) {
        const time = `now() + interval '${hour}' - interval '${daysAgo} days'`;
        await world.dataSource.query(
          `INSERT INTO auth_events (event_id, organization_id, app_id, event, outcome, created_at)
           SELECT gen_random_uuid(), $1, $2, 'token_exchange', 'issuer_token_rejected', ${time}
           FROM generate_series(1, $3::integer)`,
          [account, app, count],
        );
        await world.dataSource.query(
          `INSERT INTO usage_events (event_id, organization_id, app_id, provider_type, model, route, status, cost_source,
             requests, client_aborted, created_at)
           SELECT gen_random_uuid()::text, $1, $2, 'openai', 'gpt-4.1', 'r', 'ok', 'unresolved', 1, false, ${time}
           FROM generate_series(1, $3::integer)`,
          [account, app, count],
        );
      }
    };
    await store(usual.id, 59, 0);
    await store(usual.id, 20 * 7, 3);
    await store(rising.id, 60, 0);
    await store(rising.id, 20 * 7, 3);
    await Promise.all([...both(), ...both()].map((app) => app.get(RisingCounts).look()));
    const told = await dataAt(place);
    const of = (type: string) => ({
      ...{ type, account, app: rising.id, count: 60, usual: 20 },
      period_start: expect.stringMatching(/T\d\d:00:00\.000Z$/),
    });
    expect(told).toEqual(expect.arrayContaining([of('sign_in.refusals_rising'), of('usage.unresolved_rising')]));
    expect(told).toHaveLength(2);
  });

  it('a 21st device of a user → an event names the device that is removed', async () => {
    const { id } = await world.app();
    const place = await webhook({ events: ['device.revoked'] });
    const devices = world.gateway.app.get(DeviceKeysService);
    for (let number = 0; number < 21; number++) {
      clock.advance(1_000);
      const facts = { environment: 'production', category: null, bundle_version: null, full_security: null } as const;
      const proven = { proof: 'app_attest', environment: 'production', facts, receipt: null, serials: [] } as const;
      const key = { ...proven, keyId: `key-${number}`, userId: 'ann', publicKey: '' };
      await devices.register({ organizationId: account, id }, key);
    }
    expect(await dataAt(place)).toEqual([
      { type: 'device.revoked', account, app: id, user: 'ann', device: 'key-0', reason: 'device_limit' },
    ]);
  });

  it('each action of the audit trail → an event as the OpenAPI document describes it', async () => {
    const types = Object.keys(EVENT_TYPES).filter((type) => EVENT_TYPES[type]?.data === AuditedEventData);
    const place = await webhook({ events: [...new Set(types.map((type) => `${type.split('.')[0]}.*`))] });
    const actor = { type: 'user', id: 'user_1', kind: 'human', credentialId: null, actionSource: 'web' } as const;
    const who = { organizationId: account, credentialType: 'session', credentialId: null, actor } as const;
    const changes = [{ path: 'limits.per_app', from: null, to: [1, 'a', true, null], redacted: false }];
    const trail = world.gateway.app.get(AuditTrail);
    await world.dataSource.transaction(async (tx) => {
      for (const type of types) {
        const action = type as `${string}.${string}`;
        await trail.record(tx, who, {
          action,
          targetType: 'thing',
          targetId: 'x',
          details: { n: 1, s: 'é\u2028' },
          changes,
        });
      }
    });
    const events = (await allAt(place)).filter(({ body }) => body.data.target !== undefined);
    const seen = events.map(({ body }) => body.type).filter((type) => type !== 'webhook.created');
    expect(seen).toEqual(types.filter((type) => type !== 'webhook.created'));
  });

  it('an event that is resent → the same id and body, under a new signature', async () => {
    const place = await webhook({ events: ['provider.created'] });
    await ProxyClient.create(world);
    const [event] = await allAt(place);
    const [{ id: hook }] = await world.dataSource.query('SELECT id FROM webhooks WHERE url = $1', [
      receiver.url + place,
    ]);
    const { body } = await world.api.get(`${PATH}/${hook}/deliveries`);
    const sent = await world.api.get(`${PATH}/${hook}/deliveries/${body.deliveries[0].id}`);
    expect(sent.body).toEqual({ delivery: body.deliveries[0], body: event?.text });
    clock.advance(MINUTE_MS);
    await world.as(world.managementKey).post(`${PATH}/${hook}/deliveries/${body.deliveries[0].id}/resend`);
    const [, again] = await receiver.until(place, 2);
    expect([again?.headers['webhook-id'], again?.text]).toEqual([event?.headers['webhook-id'], event?.text]);
    expect(Number(again?.headers['webhook-timestamp'])).toBe(Number(event?.headers['webhook-timestamp']) + 60);
    expect(again?.headers['webhook-signature']).not.toBe(event?.headers['webhook-signature']);
  });

  it('an endpoint that resolves to a private address when it is dialled → never reached, and retried', async () => {
    const inside = await startReceiver('127.0.0.2');
    const place = await webhook({ events: ['provider.created'] });
    const url = inside.url + place;
    // The new address of a name that was public; only 127.0.0.1 is a trusted host.
    await world.dataSource.query('UPDATE webhooks SET url = $2 WHERE url = $1', [receiver.url + place, url]);
    await ProxyClient.create(world);
    expect(await allAt(place)).toEqual([]);
    const [delivery] = await world.dataSource.query(
      `SELECT status, response_status, attempts FROM webhook_deliveries
        WHERE webhook_id = (SELECT id FROM webhooks WHERE url = $1)`,
      [url],
    );
    await inside.stop();
    expect(delivery).toEqual({ status: 'pending', response_status: null, attempts: 1 });
    expect(inside.received).toEqual([]);
  });
});
