import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FakeClock } from '../../../support/clock.js';
import {
  LimitedApp,
  limitRefusalOf,
  rateLimited,
  startLimitedWorld,
} from '../../../support/limits/requests/limited-app.js';
import { EndpointChain, RESPONSE } from '../../../support/proxy/endpoint-chain.js';
import { type Answer, documentedRefusals, refusalOf } from '../../../support/proxy/proxy-client.js';
import { emptyBody, json, resetBeforeAnswer, type Script } from '../../../support/proxy/upstream-scripts.js';
import type { World } from '../../../support/world.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let world: World;
let clock: FakeClock;
let isDocumented: (answer: Answer) => void;

beforeAll(async () => {
  ({ world, clock } = await startLimitedWorld());
  isDocumented = documentedRefusals(world);
});

afterAll(() => world.stop());

/** Whole seconds until the window ends. */
const untilEndOf = (windowMs: number) => Math.ceil((windowMs - (clock.nowMs() % windowMs)) / 1_000);

const requests = (per_minute: number | null, per_day: number | null) => ({ requests: { per_minute, per_day } });

describe('limits of requests', () => {
  it.each([
    ['a user’s minute', { per_user: requests(3, null) }, 'user', MINUTE_MS],
    ['a user’s day', { per_user: requests(null, 3) }, 'user', DAY_MS],
    ['the application’s minute', { per_app: requests(3, null) }, 'app', MINUTE_MS],
    ['the application’s day', { per_app: requests(null, 3) }, 'app', DAY_MS],
  ] as const)(
    '%s → exactly that many, then 429 until the window ends, then that many again',
    async (_name, limits, scope, windowMs) => {
      const app = await LimitedApp.create(world, limits);
      expect(await app.calls(3)).toEqual([200, 200, 200]);
      const answer = await app.call();
      expect(limitRefusalOf(answer)).toEqual(rateLimited(scope, untilEndOf(windowMs)));
      isDocumented(answer);
      expect((await app.call('ben')).status).toBe(scope === 'user' ? 200 : 429);
      clock.advance(windowMs);
      expect(await app.calls(4)).toEqual([200, 200, 200, 429]);
    },
  );

  it.each([
    ['user', { per_user: requests(5, 100) }],
    ['app', { per_app: requests(5, 100) }],
  ])('thirty calls of a %s at once → exactly as many are served as the limit allows', async (_scope, limits) => {
    const app = await LimitedApp.create(world, limits);
    const before = world.upstream.requests.length;
    const answers = await Promise.all(Array.from({ length: 30 }, () => app.call()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(world.upstream.requests.length - before).toBe(5);
  });

  it('refused calls → count in no window, and are recorded as refused and free', async () => {
    const app = await LimitedApp.create(world, { per_user: requests(2, 4) });
    expect(await app.calls(5)).toEqual([200, 200, 429, 429, 429]);
    expect(await app.recorded('blocked_app_rate')).toEqual([
      expect.objectContaining({ user_id: 'ann', cost_usd: 0, input_tokens: 0, cost_source: null, latency_ms: null }),
    ]);
    clock.advance(MINUTE_MS);
    expect(await app.calls(3)).toEqual([200, 200, 429]);
    expect(await app.standing()).toMatchObject({ requests_today: 4, requests_remaining: 0 });
  });

  it('several limits are reached → user before application, minute before day', async () => {
    const app = await LimitedApp.create(world, { per_user: requests(1, 1), per_app: requests(1, 1) });
    expect(await app.calls(1)).toEqual([200]);
    expect(await app.refused('ann')).toEqual(rateLimited('user', untilEndOf(MINUTE_MS)));
    expect(await app.refused('ben')).toEqual(rateLimited('app', untilEndOf(MINUTE_MS)));
    clock.advance(MINUTE_MS);
    expect(await app.refused('ann')).toEqual(rateLimited('user', untilEndOf(DAY_MS)));
    expect(await app.refused('ben')).toEqual(rateLimited('app', untilEndOf(DAY_MS)));
  });

  it('refused for the application → nothing is taken from the user’s own limit', async () => {
    const app = await LimitedApp.create(world, { per_user: requests(null, 2), per_app: requests(1, null) });
    expect(await app.calls(3)).toEqual([200, 429, 429]);
    expect((await app.standing()).requests_today).toBe(1);
    clock.advance(MINUTE_MS);
    expect(await app.calls(1)).toEqual([200]);
    clock.advance(MINUTE_MS);
    expect(await app.refused()).toMatchObject({ data: { scope: 'user' } });
  });

  it('limits that change → apply to the next call, and earlier calls still count', async () => {
    const app = await LimitedApp.create(world, { per_user: requests(5, null) });
    await app.calls(3);
    await app.limit({ per_user: requests(3, null) });
    expect(await app.refused()).toEqual(rateLimited('user', untilEndOf(MINUTE_MS)));
    await app.limit({ per_user: requests(4, null) });
    expect(await app.calls(2)).toEqual([200, 429]);
    await app.limit({});
    expect(await app.calls(3)).toEqual([200, 200, 200]);
  });
});

describe('what counts as a request', () => {
  it('calls that policy refuses → none', async () => {
    const app = await LimitedApp.create(world, { per_user: requests(1, null) });
    for (const body of ['no json', { model: 'no-such-model' }, { input: 'x' }]) {
      expect((await app.call('ann', { body })).status).toBe(400);
    }
    expect(await app.calls(2)).toEqual([200, 429]);
  });

  it('a blocked user → refused as blocked, whatever is used up, and not counted', async () => {
    const app = await LimitedApp.create(world, { per_user: requests(1, null), per_app: requests(2, null) });
    await app.calls(1);
    await app.client.events();
    await world.api.post(`/v1/admin/apps/${app.client.appId}/users/ann/block`);
    expect(refusalOf(await app.call())).toEqual([403, 'auth_required']);
    expect((await app.call('ben')).status).toBe(200);
  });

  it.each<[string, Script, number]>([
    ['an error', json(500, { error: {} }), 500],
    ['an empty answer', emptyBody(204), 204],
    ['a broken connection', resetBeforeAnswer(), 502],
  ])('a provider that gives %s → still one request', async (_name, script, status) => {
    const app = await LimitedApp.create(world, { per_user: requests(1, null) });
    world.upstream.script(script);
    expect([(await app.call()).status, (await app.call()).status]).toEqual([status, 429]);
  });

  it('a named endpoint that falls back → one request, however many targets are called', async () => {
    const targets = [{ script: json(503, {}) }, { script: json(503, {}) }, { script: json(200, RESPONSE) }];
    const chain = await EndpointChain.create(world, targets);
    const app = LimitedApp.of(world, chain.client);
    await app.limit({ per_app: requests(2, null) });
    expect([(await chain.call()).status, (await chain.call()).status]).toEqual([200, 200]);
    const refused = await chain.call();
    expect(limitRefusalOf(refused)).toMatchObject({ code: 'app_rate_limited', data: { scope: 'app' } });
    expect(chain.asked).toEqual([2, 2, 2]);
    expect(await chain.client.events(1, '&status=blocked_app_rate')).toMatchObject([
      { provider_slug: chain.slugs[0], endpoint_slug: 'answer', cost_usd: 0 },
    ]);
    await chain.stop();
  });
});
