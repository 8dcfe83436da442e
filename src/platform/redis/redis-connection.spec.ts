import { afterAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { eventually } from '../../../test/support/eventually.js';
import { SystemClock } from '../../common/clock.js';
import { Log } from '../../common/log/log.js';
import { Secret } from '../../common/log/secret.js';
import { RedisConnection } from './redis-connection.js';

function connectionTo(url: string | undefined): { redis: RedisConnection; lines: string[] } {
  const lines: string[] = [];
  const clock = new SystemClock();
  const log = new Log(clock, 'debug', (line) => lines.push(line));
  return { redis: new RedisConnection({ url: url === undefined ? undefined : new Secret(url), clock, log }), lines };
}

const neverAsked = () => Promise.reject(new Error('asked'));

describe('Redis connection without a Redis', () => {
  const attempts = jest.spyOn(Redis.prototype, 'connect');
  beforeEach(() => void attempts.mockClear());
  afterAll(() => attempts.mockRestore());

  it('no address → unused, every query fails, nothing logged', () => {
    const { redis, lines } = connectionTo(undefined);
    redis.open();
    expect([redis.state, redis.run(neverAsked), lines]).toEqual(['unused', undefined, []]);
    redis.close();
  });

  it('no server at the address → opening neither fails nor waits; one log line for any number of attempts', async () => {
    const { redis, lines } = connectionTo('redis://user:private@127.0.0.1:1');
    redis.open();
    expect([redis.state, redis.run(neverAsked)]).toEqual(['lost', undefined]);
    await eventually(() => lines.length > 0, { withinMs: 10_000 });
    await eventually(() => attempts.mock.calls.length >= 4, { withinMs: 10_000 });
    redis.close();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('"redis_lost"');
    expect(lines[0]).toContain('ECONNREFUSED');
    expect(lines[0]).not.toContain('private');
  });

  it('closed before it was opened → stays closed', async () => {
    const { redis, lines } = connectionTo('redis://127.0.0.1:1');
    redis.close();
    redis.open();
    expect([attempts.mock.calls, lines]).toEqual([[], []]);
  });
});
