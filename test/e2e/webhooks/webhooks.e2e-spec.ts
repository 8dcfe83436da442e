import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { WebhookSender } from '../../../src/webhooks/webhook-sender.service.js';
import { newAccount, newMember } from '../../support/accounts/accounts.js';
import { type ApiClient, codeOf } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { type ReceivedEvent, startReceiver, type WebhookReceiver } from '../../support/webhooks/receiver.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/webhooks';
const SECRET = /^whsec_[0-9A-Za-z+/]{43}=$/;
/** Nothing is sent there: a name that nobody resolves keeps a sender waiting for seconds. */
const ELSEWHERE = { url: 'https://hooks.acme.com' };
const SECOND = 1_000;
const DAY = 24 * 60 * 60 * SECOND;

const clock = new FakeClock();
let world: World;
let receiver: WebhookReceiver;
let places = 0;

beforeAll(async () => {
  receiver = await startReceiver();
  world = await startWorld({ clock });
});

afterAll(async () => {
  await world.stop();
  await receiver.stop();
});

/** A separate account with a webhook, with its own path. */
async function accountWithWebhook(body: Record<string, unknown> = {}) {
  const account = await newAccount(world.dataSource);
  const client = world.as(account.key);
  return { ...account, client, ...(await webhookOf(client, body)) };
}

async function webhookOf(client: ApiClient, body: Record<string, unknown> = {}) {
  const place = `/hook-${++places}`;
  const { status, body: answer, text } = await client.post(PATH, { url: receiver.url + place, ...body });
  if (status !== 201) throw new Error(`webhook: ${status} ${text}`);
  return { place, id: answer.webhook.id as string, secret: answer.secret as string };
}

/** Events besides the creation of the webhook itself. */
function ofOthers(events: readonly ReceivedEvent[]): readonly ReceivedEvent[] {
  return events.filter(({ body }) => !body.type.startsWith('webhook.'));
}

async function addProvider(client: ApiClient, name: string): Promise<void> {
  const { status, text } = await client.post('/v1/admin/providers', { type: 'openai', name, secret: 'sk-test-1234' });
  if (status !== 201) throw new Error(`provider: ${status} ${text}`);
}

/** Deliveries of events besides those of webhooks, newest first. */
async function deliveriesOf(client: ApiClient, id: string) {
  const { body } = await client.get(`${PATH}/${id}/deliveries`);
  return body.deliveries.filter(({ type }: { type: string }) => !type.startsWith('webhook.'));
}

/** Sends due events without waiting for the interval. */
const send = () => world.gateway.app.get(WebhookSender).look();

async function untilDelivery(client: ApiClient, id: string, expected: object): Promise<void> {
  await eventually(
    async () => {
      await send();
      const [newest] = await deliveriesOf(client, id);
      return newest !== undefined && Object.entries(expected).every(([name, value]) => newest[name] === value);
    },
    { withinMs: 60_000 },
  );
}

describe('managing webhooks', () => {
  it('create → the secret is returned once and sealed at rest; by default the name is the host and every event is sent', async () => {
    const { client } = await accountWithWebhook();
    const { status, body } = await client.post(PATH, { url: 'https://hooks.acme.com/in' });
    expect([status, body.secret]).toEqual([201, expect.stringMatching(SECRET)]);
    expect(body.webhook).toMatchObject({
      ...{ name: 'hooks.acme.com', url: 'https://hooks.acme.com/in', events: null, apps: null },
      ...{ enabled: true, disabled_reason: null, previous_secret_until: null },
    });
    const list = await client.get(PATH);
    expect(list.body.webhooks).toHaveLength(2);
    expect(list.text).not.toContain('whsec_');
    const [row] = await world.dataSource.query('SELECT * FROM webhooks WHERE id = $1', [body.webhook.id]);
    expect(JSON.stringify(row)).not.toContain(body.secret.slice('whsec_'.length));
    await client.delete(`${PATH}/${body.webhook.id}`);
  });

  it.each([
    [{}, 'url'],
    [{ url: 'http://hooks.acme.com' }, 'url: must use https'],
    [{ url: 'https://hooks.acme.com', events: ['app.exploded'] }, 'events.0'],
    [{ url: 'https://hooks.acme.com', apps: ['no-such-app'] }, 'apps.0: must be the id of an application'],
    [{ url: 'https://hooks.acme.com', name: 'a\u202eb' }, 'name'],
    [{ url: 'https://hooks.acme.com', secret: 'whsec_mine' }, 'secret'],
    [{ url: 'https://hooks.acme.com', enabled: 'yes' }, 'enabled'],
  ])('%j → 400 naming the member', async (body, named) => {
    const answer = await world.api.post(PATH, body);
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message).toContain(named);
  });

  it.each([
    'https://10.0.0.7/in',
    'https://169.254.169.254/latest/meta-data',
    'https://[fd00::1]/',
    'https://[::ffff:169.254.169.254]/',
    'https://0x0a000007/',
    'https://012000000007/',
    'https://localhost./',
    'https://redis.internal/',
    'https://hooks.acme.com@10.0.0.7/',
    'http://127.0.0.1.nip.io/',
    'file:///etc/passwd',
    'https://%31%30.0.0.7/',
  ])('%s, which leads to a private network → 400, even when it replaces a valid URL', async (url) => {
    const { id, client, place } = await accountWithWebhook();
    const answers = [await client.post(PATH, { url }), await client.send('PATCH', `${PATH}/${id}`, { url }, {})];
    for (const answer of answers) {
      expect(codeOf(answer)).toEqual([400, 'invalid_request']);
      expect(answer.body.error.message).toMatch(/^url: /);
    }
    expect((await client.get(PATH)).body.webhooks).toMatchObject([{ url: receiver.url + place }]);
  });

  it('an application of another account in a filter → refused as unknown', async () => {
    const { id } = await world.app();
    const { client } = await accountWithWebhook();
    const answer = await client.post(PATH, { url: 'https://hooks.acme.com', apps: [id] });
    expect(answer.body.error.message).toBe('apps.0: must be the id of an application');
  });

  it('30 creations at once → 20 webhooks, the rest 409', async () => {
    const { key } = await newAccount(world.dataSource);
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => world.as(key).post(PATH, { ...ELSEWHERE, enabled: false })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(20).fill(201), ...Array(10).fill(409)]);
  });

  it('20 deletions at once → each 200, and its event goes to the remaining webhooks', async () => {
    const { key } = await newAccount(world.dataSource);
    const client = world.as(key);
    const made = await Promise.all(Array.from({ length: 20 }, () => webhookOf(client)));
    const answers = await Promise.all(made.map(({ id }) => client.delete(`${PATH}/${id}`)));
    expect(answers.map(({ status }) => status)).toEqual(made.map(() => 200));
  });

  it('another account → 404 on every route, and nothing changes', async () => {
    const { id, client, place } = await accountWithWebhook();
    const [own] = await receiver.until(place, 1);
    expect(own?.body.type).toBe('webhook.created');
    await untilEmpty(id);
    const { body } = await client.get(`${PATH}/${id}/deliveries`);
    const delivery = `${PATH}/${id}/deliveries/${body.deliveries[0].id}`;
    const stranger = world.as((await newAccount(world.dataSource)).key);
    const answers = [
      await stranger.get(`${PATH}/${id}`),
      await stranger.get(`${PATH}/${id}/deliveries`),
      await stranger.get(delivery),
      await stranger.send('PATCH', `${PATH}/${id}`, { enabled: false }, {}),
      await stranger.post(`${PATH}/${id}/rotate`),
      await stranger.post(`${PATH}/${id}/test`),
      await stranger.post(`${delivery}/resend`),
      await stranger.delete(`${PATH}/${id}`),
    ];
    expect(answers.map(codeOf)).toEqual(answers.map(() => [404, 'not_found']));
    expect((await stranger.get(PATH)).body.webhooks).toEqual([]);
    expect((await client.get(`${PATH}/${id}`)).body.webhook).toMatchObject({
      enabled: true,
      previous_secret_until: null,
    });
    expect(receiver.received.filter((event) => event.path === place)).toHaveLength(1);
  });

  it('a delivery that is not the webhook’s, read or resent → 404, whatever the id looks like', async () => {
    const { id, client } = await accountWithWebhook();
    const ids = ['0', '999999999999999999', '9'.repeat(19), '9'.repeat(400), '-1', '1.5', '0x1', 'evt_1', '%20', 'NaN'];
    for (const delivery of ids) {
      const one = `${PATH}/${id}/deliveries/${delivery}`;
      expect([delivery, ...codeOf(await client.get(one))]).toEqual([delivery, 404, 'not_found']);
      expect([delivery, ...codeOf(await client.post(`${one}/resend`))]).toEqual([delivery, 404, 'not_found']);
    }
  });

  it('a read grant → may read, but not write, test or resend', async () => {
    const { id, organizationId } = await accountWithWebhook();
    const { key } = await newMember(world.dataSource, organizationId, { grant: 'read' });
    const reader = world.as(key);
    expect((await reader.get(`${PATH}/${id}`)).status).toBe(200);
    expect((await reader.get(`${PATH}/${id}/deliveries`)).status).toBe(200);
    const refused = [
      await reader.post(PATH, ELSEWHERE),
      await reader.send('PATCH', `${PATH}/${id}`, {}, {}),
      await reader.post(`${PATH}/${id}/rotate`),
      await reader.post(`${PATH}/${id}/test`),
      await reader.post(`${PATH}/${id}/deliveries/1/resend`),
      await reader.delete(`${PATH}/${id}`),
    ];
    expect(refused.map(codeOf)).toEqual(refused.map(() => [403, 'grant_insufficient']));
  });
});

/** Until a webhook has nothing to deliver. */
function untilEmpty(id: string): Promise<void> {
  const waiting = "SELECT FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'pending'";
  return eventually(
    async () => {
      await send();
      return (await world.dataSource.query(waiting, [id])).length === 0;
    },
    { withinMs: 60_000 },
  );
}

describe('deliveries', () => {
  it('an audited change → one signed event, verified by the Standard Webhooks library', async () => {
    const { client, organizationId, identityId, place, secret } = await accountWithWebhook({ events: ['provider.*'] });
    await addProvider(client, 'Verified');
    const [event] = await receiver.until(place, 1);
    if (event === undefined) throw new Error('nothing was received');
    const headers = Object.fromEntries(Object.entries(event.headers).map(([name, value]) => [name, String(value)]));
    const verified = new Webhook(secret).verify(event.text, headers);
    expect(verified).toEqual({
      type: 'provider.created',
      timestamp: clock.now().toISOString(),
      data: {
        account: organizationId,
        app: null,
        actor: { id: identityId, kind: 'service', source: 'api' },
        target: { type: 'provider', id: expect.any(String) },
        details: expect.any(Object),
        changes: null,
      },
    });
    expect(headers['webhook-id']).toMatch(/^evt_[0-9a-z]{32}$/);
    expect(() => new Webhook(secret).verify(`${event.text} `, headers)).toThrow();
    expect(event.text).not.toContain('sk-test');
  });

  it('filters by event and application → only events that match both', async () => {
    const { client, place: all } = await accountWithWebhook();
    const config = {
      authentication: { type: 'api_key' },
      routing: { providers: { mode: 'all' }, model_rewrites: {} },
    };
    const one = (await client.post('/v1/admin/apps', { name: 'One', config })).body.app.id;
    const two = (await client.post('/v1/admin/apps', { name: 'Two', config })).body.app.id;
    const { place: filtered } = await webhookOf(client, { events: ['app_key.created', 'app.*'], apps: [one] });
    await client.post(`/v1/admin/apps/${two}/keys`, { name: 'Other' });
    await client.post(`/v1/admin/apps/${one}/keys`, { name: 'Own' });
    await addProvider(client, 'Last');
    const everything = await receiver.until(all, 7);
    expect(everything.map(({ body }) => body.type).sort()).toEqual([
      ...['app.created', 'app.created', 'app_key.created', 'app_key.created', 'provider.created'],
      ...['webhook.created', 'webhook.created'],
    ]);
    const own = await receiver.until(filtered, 1);
    expect(own.map(({ body }) => [body.type, body.data.app])).toEqual([['app_key.created', one]]);
  });

  it('no webhook subscribes to it → nothing is stored; a change that fails → no event', async () => {
    const { client, organizationId, id } = await accountWithWebhook({ events: ['app.*'] });
    await addProvider(client, 'Taken');
    await client.send('PATCH', `${PATH}/${id}`, { events: ['provider.*'] }, {});
    const refused = await client.post('/v1/admin/providers', {
      ...{ type: 'openai', name: 'Again', secret: 'sk-test-1234', slug: 'openai' },
    });
    expect(refused.status).toBe(409);
    const stored = 'SELECT type FROM webhook_events WHERE organization_id = $1';
    expect(await world.dataSource.query(stored, [organizationId])).toEqual([]);
  });

  it('no answer, an error and a redirect → retried after 5 s, 5 and 30 minutes with the same id; a redirect is not followed', async () => {
    const { client, id, place } = await accountWithWebhook({ events: ['provider.*'] });
    const answers = [undefined, 500, { location: `${receiver.url}/elsewhere` }, 204];
    receiver.answer(({ path }) => (path === place ? answers.shift() : 200));
    await addProvider(client, 'Retried');
    await untilDelivery(client, id, { status: 'pending', attempts: 1, response_status: null });
    clock.advance(4 * SECOND);
    expect(receiver.received.filter((event) => event.path === place)).toHaveLength(1);
    clock.advance(2 * SECOND);
    await untilDelivery(client, id, { status: 'pending', attempts: 2, response_status: 500 });
    clock.advance(331 * SECOND);
    await untilDelivery(client, id, { status: 'pending', attempts: 3, response_status: 302 });
    clock.advance(1_981 * SECOND);
    await untilDelivery(client, id, { status: 'delivered', attempts: 4, response_status: 204, next_attempt_at: null });
    const events = receiver.received.filter((event) => event.path === place);
    expect(new Set(events.map(({ headers, text }) => `${headers['webhook-id']} ${text}`)).size).toBe(1);
    expect(receiver.received.filter(({ path }) => path === '/elsewhere')).toEqual([]);
  });

  it('an endpoint that never succeeds → failed after three days, then resent by hand', async () => {
    const { client, id, place } = await accountWithWebhook({ events: ['provider.*'] });
    let isDown = true;
    receiver.answer(({ path }) => (path === place && isDown ? 503 : 200));
    await addProvider(client, 'Lost');
    for (let attempt = 1; attempt <= 9; attempt++) {
      await untilDelivery(client, id, { attempts: attempt, status: 'pending' });
      clock.advance(1.2 * DAY);
    }
    await untilDelivery(client, id, { attempts: 10, status: 'failed', next_attempt_at: null });
    isDown = false;
    const [{ id: delivery }] = await deliveriesOf(client, id);
    expect((await client.post(`${PATH}/${id}/deliveries/${delivery}/resend`)).body.delivery.status).toBe('pending');
    await untilDelivery(client, id, { attempts: 11, status: 'delivered' });
    const failed = await client.get(`${PATH}/${id}/deliveries?status=failed`);
    expect(failed.body.deliveries).toEqual([]);
  });

  it('410 → disabled with a log line, pending deliveries are dropped; enabled again → later events arrive', async () => {
    const { client, id, place } = await accountWithWebhook({ events: ['provider.*'] });
    receiver.answer(({ path }) => (path === place ? 410 : 200));
    await addProvider(client, 'Gone');
    await eventually(async () => !(await client.get(`${PATH}/${id}`)).body.webhook.enabled, { withinMs: 60_000 });
    expect((await client.get(`${PATH}/${id}`)).body.webhook.disabled_reason).toBe('gone');
    expect(world.logs).toContainEqual(expect.objectContaining({ message: 'webhook_disabled', webhook: id }));
    const [ended] = await deliveriesOf(client, id);
    expect([ended.status, ended.response_status]).toEqual(['disabled', 410]);
    expect(codeOf(await client.post(`${PATH}/${id}/deliveries/${ended.id}/resend`))).toEqual([409, 'conflict']);
    receiver.answer(() => 200);
    await client.post('/v1/admin/providers', { ...{ type: 'xai', name: 'Unheard', secret: 'xai-test-1234' } });
    await client.send('PATCH', `${PATH}/${id}`, { enabled: true }, {});
    await client.post('/v1/admin/providers', { ...{ type: 'groq', name: 'Heard', secret: 'gsk-test-1234' } });
    const events = await receiver.until(place, 2);
    expect(events.map(({ body }) => (body.data.details as { name?: string }).name ?? '')).not.toContain('Unheard');
    expect((await client.get(`${PATH}/${id}`)).body.webhook.disabled_reason).toBeNull();
  });

  it('rotate → both secrets verify for a day, then only the new one', async () => {
    const { client, id, place, secret } = await accountWithWebhook({ events: ['provider.*'] });
    const rotated = (await client.post(`${PATH}/${id}/rotate`)).body;
    expect(rotated.secret).toMatch(SECRET);
    expect(rotated.secret).not.toBe(secret);
    await addProvider(client, 'During');
    const [during] = await receiver.until(place, 1);
    expect(String(during?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    clock.advance(DAY);
    await client.post('/v1/admin/providers', { ...{ type: 'xai', name: 'After', secret: 'xai-test-1234' } });
    const [, after] = await receiver.until(place, 2);
    expect(String(after?.headers['webhook-signature']).split(' ')).toHaveLength(1);
  });

  it('events of one subject → first attempts in order; a failed one does not delay the others', async () => {
    const { client, place } = await accountWithWebhook({ events: ['organization.renamed'] });
    const { body: session } = await client.get('/v1/admin/session');
    let first = true;
    receiver.answer(({ path }) => {
      if (path !== place || !first) return 200;
      first = false;
      return 500;
    });
    const names = Array.from({ length: 12 }, (_, index) => `Name ${index}`);
    for (const name of names) {
      await client.send('PATCH', `/v1/admin/organizations/${session.session.organization.id}`, { name }, {});
    }
    const events = await receiver.until(place, names.length);
    const ids = events.map(({ headers }) => headers['webhook-id']);
    const stored = await world.dataSource.query<{ event_id: string }[]>(
      `SELECT event_id FROM webhook_deliveries
        WHERE webhook_id = (SELECT id FROM webhooks WHERE url = $1) ORDER BY id`,
      [receiver.url + place],
    );
    expect(ids).toEqual(stored.map(({ event_id }) => event_id));
  });

  it('test → one attempt at once, whatever the filters are; each outcome is a 200', async () => {
    const { client, id, place } = await accountWithWebhook({ events: ['app.*'], enabled: false });
    receiver.answer(() => 200);
    const good = await client.post(`${PATH}/${id}/test`);
    expect(good.body.delivery).toMatchObject({
      type: 'webhook.test',
      status: 'delivered',
      attempts: 1,
      response_status: 200,
    });
    receiver.answer(({ path }) => (path === place ? 401 : 200));
    const bad = await client.post(`${PATH}/${id}/test`);
    expect(bad.body.delivery).toMatchObject({
      status: 'failed',
      attempts: 1,
      response_status: 401,
      next_attempt_at: null,
    });
    receiver.answer(() => 200);
    expect(ofOthers(receiver.received.filter((event) => event.path === place))).toEqual([]);
  });

  it('delete → 404 afterwards, and nothing more is sent', async () => {
    const { client, id, place } = await accountWithWebhook({ events: ['provider.*'] });
    expect((await client.delete(`${PATH}/${id}`)).body).toEqual({ deleted: true, webhook_id: id });
    await addProvider(client, 'Unsent');
    const { place: witness } = await webhookOf(client);
    await receiver.until(witness, 1);
    expect(receiver.received.filter((event) => event.path === place)).toEqual([]);
    expect((await client.get(`${PATH}/${id}`)).status).toBe(404);
  });
});
