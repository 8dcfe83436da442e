import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isConnectionTrouble } from '../../../../src/platform/database/database-errors.js';
import { compilePrice } from '../../../../src/pricing/model-price.js';
import { UsageWritesRepository } from '../../../../src/usage/recording/event/usage-writes.repository.js';
import type { UsageAdmission, UsageOutcome } from '../../../../src/usage/recording/usage-event.js';
import { UsageRecorder } from '../../../../src/usage/recording/usage-recorder.service.js';
import { AppUsageTotals } from '../../../../src/usage/reports/app-usage-totals.service.js';
import { UsageReports } from '../../../../src/usage/reports/usage-reports.service.js';
import { eventually } from '../../../support/eventually.js';
import { anAdmission, anOutcome, aReading } from '../../../support/usage/recording/usage.js';
import { arraysOf, storeEvents } from '../../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../../support/world.js';

const CALLED = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hello' }] };
const NOVEMBER_MS = Date.UTC(2025, 10, 1);

let world: World;
let recorder: UsageRecorder;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld();
  recorder = world.gateway.app.get(UsageRecorder);
  [{ id: organizationId }] = await world.dataSource.query('SELECT id FROM organizations');
});

afterAll(() => world.stop());

interface Recorded {
  readonly admission?: Partial<UsageAdmission>;
  readonly outcome?: Partial<UsageOutcome>;
}

/** Records events of an application one after the other, so that their row ids follow their order. */
async function record(appId: string, ...events: Recorded[]): Promise<void> {
  for (const { admission = {}, outcome = {} } of events) {
    const createdAtMs = admission.createdAtMs ?? NOVEMBER_MS;
    const eventId = recorder.newEventId(createdAtMs);
    const ticket = recorder.admit(anAdmission({ organizationId, appId, ...admission, eventId, createdAtMs }));
    recorder.settle(
      ticket,
      anOutcome({ price: compilePrice({ input: 2, output: 8 }), reading: aReading(), ...outcome }),
    );
    await recorder.flush();
  }
}

function eventsOf(appId: string, query = '') {
  return world.api.get(`/v1/admin/apps/${appId}/events${query}`);
}

function usageOf(appId: string, query = '') {
  return world.api.get(`/v1/admin/apps/${appId}/usage${query}`);
}

describe('usage of a proxied request', () => {
  it('call answered → one event with all its data', async () => {
    const { slug } = await world.provider({ slug: 'usage-openai' });
    const app = await world.app();
    const answer = await fetch(`${world.baseUrl}/v1/apps/${app.id}/proxy/${slug}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.key}`, 'content-type': 'application/json', 'x-app-version': '2.1' },
      body: JSON.stringify(CALLED),
    });
    expect(answer.status).toBe(200);
    await answer.text();
    await eventually(async () => (await eventsOf(app.id)).body.events.length > 0, { withinMs: 10_000 });
    const { body } = await eventsOf(app.id);
    expect(body).toEqual({ app_id: app.id, limit: 50, next_before_id: null, events: [expect.anything()] });
    expect(body.events[0]).toEqual({
      id: expect.any(Number),
      app_id: app.id,
      user_id: null,
      api_key_id: expect.any(String),
      provider: 'openai',
      provider_slug: slug,
      provider_gateway_id: null,
      provider_gateway_type: null,
      credential_source: 'direct',
      model_author: 'OpenAI',
      served_provider: null,
      served_model: null,
      model: 'gpt-4.1',
      route: `${slug}/v1/chat/completions`,
      endpoint_slug: null,
      input_tokens: 10,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 2,
      cost_usd: 0.000036,
      estimated_cost_usd: 0,
      reported_cost_usd: null,
      cost_source: 'computed',
      app_version: '2.1',
      auth_method: 'api_key',
      status: 'ok',
      client_aborted: null,
      latency_ms: expect.any(Number),
      duration_ms: expect.any(Number),
      attempts: null,
      settled_at: null,
      refusal: null,
      requests: 1,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const month = new Date().toISOString().slice(0, 7);
    expect((await usageOf(app.id)).body).toEqual({
      app_id: app.id,
      month,
      requests: 1,
      input_tokens: 10,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 2,
      cost_usd: 0.000036,
      estimated_cost_usd: 0,
    });
  });
});

describe('GET events', () => {
  it('pages newest first → next_before_id leads through all of them, null at the end', async () => {
    const app = await world.app();
    await record(app.id, ...['a', 'b', 'c', 'd', 'e'].map((userId) => ({ admission: { userId } })));
    const seen: string[] = [];
    let before = '';
    for (let page = 0; page < 3; page++) {
      const { body } = await eventsOf(app.id, `?limit=2${before}`);
      seen.push(...body.events.map((event: { user_id: string }) => event.user_id));
      expect(body.next_before_id).toBe(page === 2 ? null : body.events[1].id);
      before = `&before_id=${body.next_before_id}`;
    }
    expect(seen).toEqual(['e', 'd', 'c', 'b', 'a']);
  });

  it.each([
    ['status=provider_error', ['d']],
    ['provider=anthropic', ['c']],
    ['user=u%2B1%20', ['b']],
    ['model=gpt-4.1-mini', ['a']],
    ['provider=openai&model=gpt-4.1', ['d', 'b']],
    ['status=blocked_user', []],
  ])('filter %s → only those', async (query, keys) => {
    const app = await world.app();
    await record(
      app.id,
      { admission: { apiKeyId: 'a', model: 'gpt-4.1-mini' } },
      { admission: { apiKeyId: 'b', userId: 'u+1 ' } },
      { admission: { apiKeyId: 'c', providerType: 'anthropic' } },
      { admission: { apiKeyId: 'd' }, outcome: { status: 'provider_error', ending: 'refused', reading: undefined } },
    );
    const { body } = await eventsOf(app.id, `?${query}`);
    expect(body.events.map((event: { api_key_id: string }) => event.api_key_id)).toEqual(keys);
  });

  it.each([
    'limit=0',
    'limit=201',
    'limit=x',
    'before_id=0',
    'before_id=-1',
    'before_id=1.5',
    'limit=1&limit=2',
    'x=1',
    'status=nonsense',
    'provider=nobody',
  ])('%s → 400 invalid_request', async (query) => {
    const app = await world.app();
    const answer = await eventsOf(app.id, `?${query}`);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  });

  it('every kind of value → as documented', async () => {
    const app = await world.app();
    const reading = aReading({
      reportedCostNanoUsd: 1_500_000_001,
      servedModel: 'm',
      servedProvider: 'p',
      credentialSource: 'byok',
    });
    await record(app.id, {
      admission: { providerType: 'openrouter', endpointSlug: 'summarize', createdAtMs: NOVEMBER_MS + 1 },
      outcome: { clientAborted: true, latencyMs: null, durationMs: null, reading },
    });
    expect((await eventsOf(app.id)).body.events[0]).toMatchObject({
      credential_source: 'byok',
      served_model: 'm',
      served_provider: 'p',
      endpoint_slug: 'summarize',
      cost_usd: 1.500000001,
      estimated_cost_usd: 0,
      reported_cost_usd: 1.500000001,
      cost_source: 'reported',
      client_aborted: 1,
      latency_ms: null,
      duration_ms: null,
      created_at: '2025-11-01T00:00:00.001Z',
    });
  });

  it('targets that were tried → each with its status, time and error, the one that served is last', async () => {
    const app = await world.app();
    const attempts = [
      { providerSlug: 'first', model: 'gpt-4.1', status: 503, latencyMs: 41, error: null },
      { providerSlug: 'second', model: 'gpt-4.1-mini', status: null, latencyMs: 7, error: 'connection_refused' },
      { providerSlug: 'openai', model: 'gpt-4.1', status: 200, latencyMs: 120, error: null },
    ];
    await record(app.id, { outcome: { attempts } }, {});
    const { events } = (await eventsOf(app.id)).body;
    expect(events[0].attempts).toBeNull();
    expect(events[1]).toMatchObject({ provider_slug: 'openai', model: 'gpt-4.1', latency_ms: 120 });
    expect(events[1].attempts).toEqual([
      { provider_slug: 'first', model: 'gpt-4.1', status: 503, latency_ms: 41, error: null },
      { provider_slug: 'second', model: 'gpt-4.1-mini', status: null, latency_ms: 7, error: 'connection_refused' },
      { provider_slug: 'openai', model: 'gpt-4.1', status: 200, latency_ms: 120, error: null },
    ]);
  });

  it('unknown application → 404 app_not_found on both routes', async () => {
    for (const answer of [await eventsOf('nobody-abc123'), await usageOf('nobody-abc123')]) {
      expect([answer.status, answer.body.error.code]).toEqual([404, 'app_not_found']);
    }
  });
});

describe('GET usage', () => {
  it('UTC months → first and last millisecond are included, the next one is not', async () => {
    const app = await world.app();
    const lastMs = Date.UTC(2025, 11, 1) - 1;
    await record(
      app.id,
      ...[NOVEMBER_MS - 1, NOVEMBER_MS, lastMs, lastMs + 1].map((createdAtMs) => ({ admission: { createdAtMs } })),
    );
    expect((await usageOf(app.id, '?month=2025-11')).body).toMatchObject({
      month: '2025-11',
      requests: 2,
      cost_usd: 0.012,
      estimated_cost_usd: 0,
    });
    expect((await usageOf(app.id, '?month=2025-10')).body).toMatchObject({ requests: 1 });
    expect((await usageOf(app.id, '?month=2025-09')).body).toMatchObject({ requests: 0, cost_usd: 0 });
  });

  it('refusals that share a row → each counts', async () => {
    const app = await world.app();
    await record(app.id, {}, {});
    const refused = { app_id: app.id, organization_id: organizationId, status: 'blocked_app_rate', requests: 5 };
    await storeEvents(world.dataSource, { ...refused, at: '2025-11-20T00:00:00Z' });
    expect((await usageOf(app.id, '?month=2025-11')).body.requests).toBe(7);
    const totals = await world.gateway.app.get(AppUsageTotals).totalsByApp(organizationId, [app.id], '2025-11');
    expect(totals.get(app.id)).toMatchObject({ requests: 7, errors: 0, blocked: 5, input_tokens: 2_000 });
  });

  it.each(['month=2025-13', 'month=2025-1', 'month=', 'month=2025-11-01', 'mont=2025-11'])(
    '%s → 400',
    async (query) => {
      const app = await world.app();
      const answer = await usageOf(app.id, `?${query}`);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    },
  );

  it('the sums cannot be read in time → service_unavailable within seconds, and afterwards as usual', async () => {
    const usage = world.gateway.app.get(UsageReports);
    const app = { id: (await world.app()).id, organizationId };
    await world.dataSource.transaction(async (tx) => {
      await tx.query('LOCK TABLE usage_app_months');
      const failure: unknown = await usage.monthOf(app).catch((error: unknown) => error);
      expect(isConnectionTrouble(failure)).toBe(true);
    });
    expect(await usage.monthOf(app)).toMatchObject({ requests: 0 });
  });

  it('month=0000-01, before any calendar → zeros', async () => {
    const app = await world.app();
    expect((await usageOf(app.id, '?month=0000-01')).body.requests).toBe(0);
    expect((await usageOf(app.id, '?month=9999-12')).body.requests).toBe(0);
  });
});

describe('usage queried by other modules', () => {
  it('history and "ever proxied" → true only for applications with usage', async () => {
    const totals = world.gateway.app.get(AppUsageTotals);
    const app = await world.app();
    expect(await totals.appIdHasHistory(app.id)).toBe(false);
    await record(app.id, ...['u1', 'u2', 'u1', null].map((userId) => ({ admission: { userId } })));
    await record('gone-abc123', { admission: { organizationId: 'another-account' } });
    expect(await totals.appIdHasHistory(app.id)).toBe(true);
    expect(await totals.appIdHasHistory('gone-abc123')).toBe(true);
    expect(await totals.hasProxiedRequests(organizationId)).toBe(true);
    expect(await totals.hasProxiedRequests('nobody')).toBe(false);
  });
});

describe('usage in Postgres', () => {
  it('event stored again → nothing changes; only the new ones of several are returned', async () => {
    const events = world.gateway.app.get(UsageWritesRepository);
    const row = (id: string) => ({
      event_id: `again-${id}`,
      organization_id: organizationId,
      app_id: 'again-abc123',
      provider_type: 'openai',
      model: 'm',
      route: 'r',
      status: 'ok',
      created_at_ms: NOVEMBER_MS,
    });
    expect(await events.insertNew(arraysOf([row('1')]))).toEqual(['again-1']);
    expect(await events.insertNew(arraysOf([row('1'), row('2'), row('2')]))).toEqual(['again-2']);
  });

  it.each([
    ['characters of any kind', { userId: 'a"b\\c\u0000d\ue000 ä😀', model: '\ud800' }],
    ['counts beyond all reason', {}],
  ])('%s → stored, not refused', async (_name, admission) => {
    const app = await world.app();
    const reading = aReading({ inputTokens: 1e300, audioSeconds: 1e300 });
    await record(app.id, { admission, outcome: { reading, latencyMs: 1e300 } });
    expect((await eventsOf(app.id)).body.events).toHaveLength(1);
    expect(world.logs.filter((line) => line.message === 'usage_event_rejected')).toEqual([]);
  });
});
