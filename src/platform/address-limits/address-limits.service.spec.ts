import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../test/support/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Log } from '../../common/log/log.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { RedisConnection } from '../redis/redis-connection.js';
import { AddressLimits } from './address-limits.service.js';

const MINUTE = Date.UTC(2030, 0, 1, 10, 0);
const CALLER = { app: 'my-app', subject: '198.51.100.9' };

/** A fake Redis connection: `answer` is the result of every command. */
class ScriptedRedis extends RedisConnection {
  answer: () => MaybePromise<number | undefined> = () => undefined;
  asked = 0;

  // biome-ignore lint/suspicious/noExplicitAny: stands for whatever type the question asks for
  override run(): any {
    this.asked++;
    return this.answer();
  }
}

function limited(): { limits: AddressLimits; clock: FakeClock; redis: ScriptedRedis } {
  const clock = new FakeClock(MINUTE);
  const redis = new ScriptedRedis({ url: undefined, clock, log: new Log(clock, 'error', () => undefined) });
  return { limits: new AddressLimits(clock, redis), clock, redis };
}

async function passes(limits: AddressLimits, caller = CALLER): Promise<boolean> {
  try {
    await limits.admit('app_auth_token', caller);
    return true;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'rate_limited') return false;
    throw error;
  }
}

async function passedOf(calls: number, limits: AddressLimits, caller = CALLER): Promise<number> {
  const all = await Promise.all(Array.from({ length: calls }, () => passes(limits, caller)));
  return all.filter(Boolean).length;
}

describe('address limits', () => {
  it('200 calls at once → exactly 60 pass', async () => {
    expect(await passedOf(200, limited().limits)).toBe(60);
  });

  it('without Redis → decided at once, without a promise', () => {
    expect(limited().limits.admit('app_auth_token', CALLER)).toBeUndefined();
  });

  it('another policy, application or address → counted separately', async () => {
    const { limits } = limited();
    await passedOf(61, limits);
    expect(await passes(limits, { ...CALLER, app: 'other' })).toBe(true);
    expect(await passes(limits, { ...CALLER, subject: '198.51.100.10' })).toBe(true);
    expect(() => limits.admit('app_auth_challenge', CALLER)).not.toThrow();
    expect(await passes(limits)).toBe(false);
  });

  it('the window’s last millisecond → refused; the next → passes', async () => {
    const { limits, clock } = limited();
    await passedOf(61, limits);
    clock.advance(59_999);
    expect(await passes(limits)).toBe(false);
    clock.advance(1);
    expect(await passes(limits)).toBe(true);
  });
});

describe('address limits with Redis', () => {
  it.each([
    [60, true],
    [61, false],
  ])('all instances together have counted %i → passes: %s', async (count, expected) => {
    const { limits, redis } = limited();
    redis.answer = () => Promise.resolve(count);
    expect(await passes(limits)).toBe(expected);
  });

  it('Redis lost its data → this instance still admits no more than 60', async () => {
    const { limits, redis } = limited();
    redis.answer = () => Promise.resolve(1);
    expect(await passedOf(100, limits)).toBe(60);
  });

  it('Redis becomes unavailable → earlier calls still count', async () => {
    const { limits, redis } = limited();
    redis.answer = () => Promise.resolve(1);
    expect(await passedOf(40, limits)).toBe(40);
    redis.answer = () => undefined;
    expect(await passedOf(40, limits)).toBe(20);
  });

  it('calls beyond the limit → Redis is not called', async () => {
    const { limits, redis } = limited();
    redis.answer = () => Promise.resolve(1);
    await passedOf(1_000, limits);
    expect(redis.asked).toBe(60);
  });
});
