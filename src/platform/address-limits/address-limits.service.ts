import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { type MaybePromise, whenResolved } from '../../common/maybe-promise.js';
import type { RedisClient } from '../redis/redis-client.js';
import { RedisConnection } from '../redis/redis-connection.js';
import {
  ADDRESS_LIMITS,
  type AddressLimitScope,
  addressLimitRefusal,
  type CountedCaller,
  counterName,
  windowAt,
} from './address-limit.rules.js';
import { WindowCounters } from './window-counters.js';

const KEY_PREFIX = 'gw:limit';

/**
 * Counts calls by address or by another subject. The in-memory count of this instance is checked first and refuses
 * alone: one instance never admits more than the limit, whatever Redis does, and a flood does not reach Redis. Redis
 * holds the sum of all instances; while it is unavailable each instance counts for itself.
 */
@Injectable()
export class AddressLimits {
  private readonly counters = new Map<AddressLimitScope, WindowCounters>();

  constructor(
    private readonly clock: Clock,
    private readonly redis: RedisConnection,
  ) {}

  /**
   * Counts one call and admits or refuses it; a window admits exactly the limit.
   *
   * @returns synchronously without Redis; otherwise after one round trip, within 250 ms.
   * @throws rate_limited, synchronously or in the promise.
   */
  admit(scope: AddressLimitScope, caller: CountedCaller): MaybePromise<void> {
    const { limit, windowSeconds } = ADDRESS_LIMITS[scope];
    const nowMs = this.clock.nowMs();
    const window = windowAt(nowMs, windowSeconds);
    const refuseBeyond = (count: number | undefined): void => {
      if (count !== undefined && count > limit) throw addressLimitRefusal(scope, window, nowMs);
    };
    const own = this.countersOf(scope).increment(window.startMs, counterName(scope, caller));
    refuseBeyond(own.count);
    const key = keyOf(scope, window.startMs, own.name);
    // Twice the window, because an instance whose clock is behind still counts in it after its end.
    const lifeMs = 2 * windowSeconds * 1000;
    return whenResolved(
      this.redis.run((client) => incrementInRedis(client, key, lifeMs)),
      refuseBeyond,
    );
  }

  /**
   * Refuses where a limit is reached, without counting: for limits that count only some of the calls.
   *
   * @returns and throws as `admit`.
   */
  requireRoom(scope: AddressLimitScope, caller: CountedCaller): MaybePromise<void> {
    const { limit, windowSeconds } = ADDRESS_LIMITS[scope];
    const nowMs = this.clock.nowMs();
    const window = windowAt(nowMs, windowSeconds);
    const refuseFull = (count: number | undefined): void => {
      if (count !== undefined && count >= limit) throw addressLimitRefusal(scope, window, nowMs);
    };
    const own = this.countersOf(scope).read(window.startMs, counterName(scope, caller));
    refuseFull(own.count);
    return whenResolved(
      this.redis.run((client) => countInRedis(client, keyOf(scope, window.startMs, own.name))),
      refuseFull,
    );
  }

  private countersOf(scope: AddressLimitScope): WindowCounters {
    const known = this.counters.get(scope);
    if (known !== undefined) return known;
    const made = new WindowCounters();
    this.counters.set(scope, made);
    return made;
  }
}

function keyOf(scope: AddressLimitScope, startMs: number, name: string): string {
  return `${KEY_PREFIX}:${scope}:${startMs}:${name}`;
}

async function countInRedis(client: RedisClient, key: string): Promise<number> {
  return Number((await client.get(key)) ?? 0);
}

/** Increments the counter and sets its TTL in one transaction, so no counter outlives its window for long. */
async function incrementInRedis(client: RedisClient, key: string, lifeMs: number): Promise<number> {
  const [counted] = (await client.multi().incr(key).pexpire(key, lifeMs).exec()) ?? [];
  const [error, count] = counted ?? [];
  if (typeof count !== 'number') throw error ?? new Error('Redis gave no count');
  return count;
}
