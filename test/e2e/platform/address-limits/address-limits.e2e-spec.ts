import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../support/clock.js';
import {
  call,
  callTimes,
  freshAddress,
  from,
  IN_A_MINUTE,
  KNOWN_APP,
  startLimitedWorld,
  statuses,
} from '../../../support/platform/address-limits/limited-routes.js';
import type { World } from '../../../support/world.js';

describe('address limits', () => {
  const clock = new FakeClock(IN_A_MINUTE);
  let world: World;
  let address: string;

  beforeAll(async () => {
    world = await startLimitedWorld({ TRUSTED_PROXIES: '127.0.0.1/32' }, clock);
  });
  beforeEach(() => {
    address = freshAddress();
  });
  afterAll(() => world?.stop());

  it('60 pass, the 61st → 429 rate_limited with exact data, and one log line', async () => {
    expect(statuses(await callTimes(60, world, from(address)))).toEqual({ 204: 60 });
    const linesBefore = world.logs.length;
    const refused = await call(world, from(address));
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('40');
    expect(refused.body).toEqual({
      error: {
        code: 'rate_limited',
        message:
          'Too many requests: at most 60 token exchanges per 60 seconds are allowed for this application from one address.',
        data: {
          scope: 'app_auth_token',
          limit: 60,
          windowSeconds: 60,
          retryAfterSeconds: 40,
          resetAt: '2030-01-01T10:01:00.000Z',
        },
      },
    });
    expect(world.logs.slice(linesBefore)).toEqual([
      {
        level: 'warn',
        message: 'gateway_error',
        timestamp: '2030-01-01T10:00:20.250Z',
        code: 'rate_limited',
        reason: 'address_limit_reached',
        status: 429,
        path: `/v1/apps/${KNOWN_APP}/greeting`,
        method: 'POST',
        app: KNOWN_APP,
      },
    ]);
  });

  it('200 at once → exactly 60 pass', async () => {
    expect(statuses(await callTimes(200, world, from(address)))).toEqual({ 204: 60, 429: 140 });
  });

  it('another address, application or route → counted separately', async () => {
    await callTimes(61, world, from(address));
    expect(await call(world, from(freshAddress()))).toMatchObject({ status: 204 });
    expect(await call(world, { ...from(address), app: 'another' })).toMatchObject({ status: 404 });
    expect(await call(world, { ...from(address), route: '/other' })).toMatchObject({ status: 204 });
    expect(await call(world, from(address))).toMatchObject({ status: 429 });
  });

  it('the application written with escapes → the same application', async () => {
    await callTimes(60, world, from(address));
    expect(await call(world, { ...from(address), app: '%6Bnown' })).toMatchObject({ status: 429 });
  });

  it('entries written by the client, left of those that the proxy adds → ignored', async () => {
    const answers = await Promise.all(
      Array.from({ length: 61 }, (_, at) => call(world, from(`203.0.113.${at}, ${address}`))),
    );
    expect(statuses(answers)).toEqual({ 204: 60, 429: 1 });
  });

  it('Forwarded, X-Real-IP and similar headers → ignored', async () => {
    const answers = await Promise.all(
      Array.from({ length: 61 }, (_, at) => {
        const forged = `203.0.113.${at}`;
        const others = { forwarded: `for=${forged}`, 'x-real-ip': forged, 'x-client-ip': forged };
        return call(world, { headers: { 'x-forwarded-for': address, ...others } });
      }),
    );
    expect(statuses(answers)).toEqual({ 204: 60, 429: 1 });
  });

  it('IPv6 of one /64 → one caller; a mapped IPv4 address → that IPv4 address', async () => {
    const network = '2001:db8:1:1';
    const answers = await Promise.all(
      Array.from({ length: 61 }, (_, at) => call(world, from(`${network}::${at.toString(16)}`))),
    );
    expect(statuses(answers)).toEqual({ 204: 60, 429: 1 });
    await callTimes(60, world, from(address));
    expect(await call(world, from(`::ffff:${address}`))).toMatchObject({ status: 429 });
  });

  it('counted first → calls that end with 400 or 404 count; the body of a refused call is not parsed, its application not read', async () => {
    const broken = { ...from(address), raw: '{"word":' };
    const unknown = { ...from(address), app: 'no-such-app' };
    expect(statuses(await callTimes(60, world, broken))).toEqual({ 400: 60 });
    expect(await call(world, broken)).toMatchObject({ status: 429 });
    expect(statuses(await callTimes(61, world, unknown))).toEqual({ 404: 60, 429: 1 });
  });

  it('a refused call → no event of any kind', async () => {
    await callTimes(61, world, from(address));
    const [{ events }] = await world.dataSource.query(
      'select (select count(*) from usage_events) + (select count(*) from auth_events) as events',
    );
    expect(events).toBe('0');
  });

  it('the next window → passes again, also at the time named by the refusal', async () => {
    await callTimes(61, world, from(address));
    clock.advance(39_749);
    expect(await call(world, from(address))).toMatchObject({
      status: 429,
      body: { error: { data: { retryAfterSeconds: 1 } } },
    });
    clock.advance(1);
    expect(await call(world, from(address))).toMatchObject({ status: 204 });
  });

  it('readyz without Redis → unused', async () => {
    expect((await world.api.get('/v1/readyz')).body).toMatchObject({ ready: true, redis: 'unused' });
  });
});

describe('address limits without trusted proxies', () => {
  let world: World;

  beforeAll(async () => {
    world = await startLimitedWorld({});
  });
  afterAll(() => world?.stop());

  it('a client that claims another address each time → the peer is counted', async () => {
    const answers = await Promise.all(Array.from({ length: 61 }, () => call(world, from(freshAddress()))));
    expect(statuses(answers)).toEqual({ 204: 60, 429: 1 });
  });
});
