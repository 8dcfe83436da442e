import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Body, Controller, HttpCode, Module, Param, Post } from '@nestjs/common';
import { ApiNoContentResponse } from '@nestjs/swagger';
import { Redis } from 'ioredis';
import { GatewayError } from '../../src/common/errors/gateway-error.js';
import { Text } from '../../src/common/fields/fields.js';
import { PublicAccess } from '../../src/common/http/access.js';
import { Fails, Operation } from '../../src/common/http/openapi.decorators.js';
import { AddressLimited } from '../../src/limits/address-limited.decorator.js';
import { LimitsModule } from '../../src/limits/limits.module.js';
import type { ApiAnswer } from '../support/api-client.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { describeBreakingRedis, describeWithRedis, reachRedis, startRedis, type TestRedis } from '../support/redis.js';
import { startWorld, type World } from '../support/world.js';

/** A quarter of a second into the 21st second of a minute. */
const IN_A_MINUTE = Date.UTC(2030, 0, 1, 10, 0, 20, 250);
const KNOWN_APP = 'known';

class GreetingRequest {
  @Text({ min: 1, max: 10 })
  word: string;
}

/** Stands for a public route of an application: looks the application up after its body was parsed. */
@Controller('v1/apps/:app/greeting')
class GreetingController {
  @Post()
  @PublicAccess()
  @HttpCode(204)
  @Operation({ id: 'greet', tag: 'Operations', summary: 'Only in tests.' })
  @ApiNoContentResponse()
  @Fails('invalid_request', 'app_not_found')
  @AddressLimited('app_auth_token')
  greet(@Param('app') app: string, @Body() _body: GreetingRequest): void {
    if (app !== KNOWN_APP) throw new GatewayError('app_not_found');
  }

  @Post('other')
  @PublicAccess()
  @HttpCode(204)
  @Operation({ id: 'greetOtherwise', tag: 'Operations', summary: 'Only in tests.' })
  @ApiNoContentResponse()
  @AddressLimited('app_auth_challenge')
  otherwise(): void {}
}

@Module({ imports: [LimitsModule], controllers: [GreetingController] })
class GreetingModule {}

interface Call {
  readonly app?: string;
  readonly route?: '/other';
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function start(env: Record<string, string>, clock = new FakeClock(IN_A_MINUTE)): Promise<World> {
  return startWorld({ env, clock, imports: [GreetingModule] });
}

function call(world: World, { app = KNOWN_APP, route, raw = '{"word":"hello"}', headers = {} }: Call = {}) {
  return world.as(undefined).post(`/v1/apps/${app}/greeting${route ?? ''}`, undefined, {
    raw,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

function from(address: string): Call {
  return { headers: { 'x-forwarded-for': address } };
}

async function callTimes(times: number, world: World, request: Call = {}): Promise<ApiAnswer[]> {
  return Promise.all(Array.from({ length: times }, () => call(world, request)));
}

function statuses(answers: readonly ApiAnswer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Addresses nobody has used yet, so that each test has its own counters in one world. */
let nextAddress = 0;
function freshAddress(): string {
  nextAddress++;
  return `198.18.${nextAddress >> 8}.${nextAddress & 255}`;
}

describe('address limits (contract-app 8.3)', () => {
  const clock = new FakeClock(IN_A_MINUTE);
  let world: World;
  let address: string;

  beforeAll(async () => {
    world = await start({ TRUSTED_PROXIES: '127.0.0.1/32' }, clock);
  });
  beforeEach(() => {
    address = freshAddress();
  });
  afterAll(() => world?.stop());

  it('60 pass, the 61st → 429 rate_limited with exact data, and one line', async () => {
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

  it('another address, application or route → counted apart', async () => {
    await callTimes(61, world, from(address));
    expect(await call(world, from(freshAddress()))).toMatchObject({ status: 204 });
    expect(await call(world, { ...from(address), app: 'another' })).toMatchObject({ status: 404 });
    expect(await call(world, { ...from(address), route: '/other' })).toMatchObject({ status: 204 });
    expect(await call(world, from(address))).toMatchObject({ status: 429 });
  });

  it('the application spelled with escapes → the same application', async () => {
    await callTimes(60, world, from(address));
    expect(await call(world, { ...from(address), app: '%6Bnown' })).toMatchObject({ status: 429 });
  });

  it('threats 2.5: entries a client wrote itself, left of what the proxy adds → ignored', async () => {
    const answers = await Promise.all(
      Array.from({ length: 61 }, (_, at) => call(world, from(`203.0.113.${at}, ${address}`))),
    );
    expect(statuses(answers)).toEqual({ 204: 60, 429: 1 });
  });

  it('threats 2.5: Forwarded, X-Real-IP and their like → ignored', async () => {
    const answers = await Promise.all(
      Array.from({ length: 61 }, (_, at) => {
        const forged = `203.0.113.${at}`;
        const others = { forwarded: `for=${forged}`, 'x-real-ip': forged, 'x-client-ip': forged };
        return call(world, { headers: { 'x-forwarded-for': address, ...others } });
      }),
    );
    expect(statuses(answers)).toEqual({ 204: 60, 429: 1 });
  });

  it('threats 8.6: IPv6 of one /64 → one caller; a mapped IPv4 address → that IPv4 address', async () => {
    const network = `2001:db8:${nextAddress.toString(16)}:1`;
    const answers = await Promise.all(
      Array.from({ length: 61 }, (_, at) => call(world, from(`${network}::${at.toString(16)}`))),
    );
    expect(statuses(answers)).toEqual({ 204: 60, 429: 1 });
    await callTimes(60, world, from(address));
    expect(await call(world, from(`::ffff:${address}`))).toMatchObject({ status: 429 });
  });

  it('counted first: calls that end as 400 or 404 count; a refused call’s body is not parsed, its application not read', async () => {
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

  it('the next window → passes again, also where the refusal said it would', async () => {
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
    world = await start({});
  });
  afterAll(() => world?.stop());

  it('threats 2.5: a client that names another address each time → the peer is counted', async () => {
    const answers = await Promise.all(Array.from({ length: 61 }, () => call(world, from(freshAddress()))));
    expect(statuses(answers)).toEqual({ 204: 60, 429: 1 });
  });
});

describe('address limits with a Redis that is not there', () => {
  it('threats 10.4: Redis is not there at the start → the service starts, counts for itself, says so in readyz', async () => {
    const world = await start({ REDIS_URL: 'redis://127.0.0.1:1' });
    try {
      expect(statuses(await callTimes(61, world))).toEqual({ 204: 60, 429: 1 });
      expect((await world.api.get('/v1/readyz')).body).toMatchObject({ ready: true, redis: 'lost' });
    } finally {
      await world.stop();
    }
  });
});

describeWithRedis('address limits of two instances with one Redis', () => {
  let redis: Pick<TestRedis, 'url' | 'stop'>;
  let worlds: World[];

  beforeAll(async () => {
    redis = await reachRedis();
    const env = { TRUSTED_PROXIES: '127.0.0.1', REDIS_URL: redis.url };
    worlds = await Promise.all([start(env), start(env)]);
    await Promise.all(worlds.map((world) => eventually(() => stateOf(world, 'ok'), { withinMs: 5_000 })));
  });
  afterAll(async () => {
    await Promise.all((worlds ?? []).map((world) => world.stop()));
    await redis?.stop();
  });

  it('200 calls at once over both → exactly 60 pass in total', async () => {
    // Nobody’s address but this run’s: a shared Redis may remember the run before.
    const address = `2001:db8:${process.pid.toString(16)}:${(Date.now() & 0xffff).toString(16)}::1`;
    const answers = await Promise.all(worlds.map((world) => callTimes(100, world, from(address))));
    expect(statuses(answers.flat())).toEqual({ 204: 60, 429: 140 });
    expect(worlds.flatMap(({ logs }) => logs).filter(({ message }) => message === 'redis_lost')).toEqual([]);
  });
});

describeBreakingRedis('address limits while Redis fails (threats 8.1, 9.2, 10.3)', () => {
  let redis: TestRedis;
  let world: World;
  let address: string;

  beforeAll(async () => {
    redis = await startRedis();
    world = await start({ TRUSTED_PROXIES: '127.0.0.1', REDIS_URL: redis.url });
  });
  beforeEach(async () => {
    address = freshAddress();
    await eventually(() => stateOf(world, 'ok'), { withinMs: 5_000 });
    world.logs.length = 0;
  });
  afterAll(async () => {
    await world?.stop();
    await redis?.stop();
  });

  const lines = () =>
    world.logs.map(({ message }) => message).filter((message) => String(message).startsWith('redis_'));

  /** Without the OpenAPI check, whose own time would be measured. */
  async function callTimed(): Promise<{ status: number; ms: number }> {
    const startedAt = performance.now();
    const { status } = await fetch(`${world.baseUrl}/v1/apps/${KNOWN_APP}/greeting`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: '{"word":"hello"}',
    });
    return { status, ms: performance.now() - startedAt };
  }

  /** 40 calls have passed before the outage: 20 more pass during it, each answered within a second. */
  async function expectLimitDuringOutage(): Promise<void> {
    const answers: { status: number; ms: number }[] = [];
    for (let at = 0; at < 25; at++) answers.push(await callTimed());
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(1_000);
    const { status, body } = await world.api.get('/v1/readyz');
    expect([status, body.ready, body.redis]).toEqual([200, true, 'lost']);
  }

  it('killed in the middle of a window → answers, still limited; started again → back within 5 s', async () => {
    expect(statuses(await callTimes(40, world, from(address)))).toEqual({ 204: 40 });
    await redis.kill();
    await expectLimitDuringOutage();
    await redis.revive();
    await eventually(() => stateOf(world, 'ok'), { withinMs: 5_000 });
    expect(await call(world, from(address))).toMatchObject({ status: 429 });
    expect(lines()).toEqual(['redis_lost', 'redis_back']);
  });

  it('frozen in the middle of a window → answers, still limited; thawed → back within 5 s', async () => {
    expect(statuses(await callTimes(40, world, from(address)))).toEqual({ 204: 40 });
    redis.freeze();
    await expectLimitDuringOutage();
    redis.thaw();
    await eventually(() => stateOf(world, 'ok'), { withinMs: 5_000 });
    expect(await call(world, from(address))).toMatchObject({ status: 429 });
    expect(lines()).toEqual(['redis_lost', 'redis_back']);
  });

  it('frozen under parallel calls → all answered within a second, never more than 60 pass', async () => {
    redis.freeze();
    const answers = await Promise.all(Array.from({ length: 80 }, () => callTimed()));
    redis.thaw();
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(60);
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(1_000);
  });

  it('flushed in the middle of a window → this instance still lets no more than 60 pass', async () => {
    await callTimes(40, world, from(address));
    await redis.kill();
    await redis.revive();
    await eventually(() => stateOf(world, 'ok'), { withinMs: 5_000 });
    expect(statuses(await callTimes(40, world, from(address)))).toEqual({ 204: 20, 429: 20 });
  });
});

describeBreakingRedis('what Redis holds', () => {
  it('counters → hashed names with the prefix gw:, each with an end of life of two windows', async () => {
    const redis = await startRedis();
    const world = await start({ TRUSTED_PROXIES: '127.0.0.1', REDIS_URL: redis.url });
    try {
      await eventually(() => stateOf(world, 'ok'), { withinMs: 5_000 });
      await call(world, from('203.0.113.77'));
      const client = new Redis(redis.url);
      const keys = (await client.keys('*')).sort();
      expect(keys).toEqual([
        expect.stringMatching(new RegExp(`^gw:limit:app_auth_token:${Date.UTC(2030, 0, 1, 10, 0)}:[A-Za-z0-9_-]{43}$`)),
        'gw:probe',
      ]);
      const lifeMs = await client.pttl(keys[0] ?? '');
      expect(lifeMs).toBeGreaterThan(110_000);
      expect(lifeMs).toBeLessThanOrEqual(120_000);
      await client.quit();
    } finally {
      await world.stop();
      await redis.stop();
    }
  });
});

async function stateOf(world: World, state: string): Promise<boolean> {
  return (await world.api.get('/v1/readyz')).body.redis === state;
}
