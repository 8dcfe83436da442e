import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import { RedisConnection } from '../../platform/redis/redis-connection.js';
import type { KeptStream } from './kept-stream.js';

/** Readers of one answer at a time, on all instances. */
const MAX_READERS = 16;
const RETRY_SECONDS = 5;
/** Name of the interval in the scheduler. */
const SEAT_RENEWAL = 'stream-seats';
const RENEW_EVERY_MS = 5_000;
/** The seats of a process that was killed are free after this. */
const SEAT_MS = 15_000;
const SEAT_LENGTH = 16;

/**
 * Counts the clients that read one answer: in Redis where there are other instances, so that they count together; while
 * Redis is lost, each instance admits its share.
 */
@Injectable()
export class StreamReaders {
  /** The marks of answers, by the seats of their readers here. */
  readonly #seats = new Map<string, string>();

  constructor(
    private readonly redis: RedisConnection,
    private readonly instances: InstanceRegistry,
    private readonly ids: Ids,
    private readonly clock: SharedClock,
  ) {}

  /** @returns frees the seat. @throws rate_limited too many readers. */
  async enter(stream: KeptStream): Promise<() => void> {
    const { mark } = stream.facts;
    const seat = this.ids.base36(SEAT_LENGTH);
    const { isAlone, live } = this.instances;
    const leave = () => this.leave(stream, seat);
    stream.readers++;
    this.#seats.set(seat, mark);
    const seated = isAlone ? undefined : await this.take(mark, seat);
    const isTogether = seated !== undefined && live.every(({ redisAnswers }) => redisAnswers);
    const most = isAlone || isTogether ? MAX_READERS : Math.max(1, Math.floor(MAX_READERS / live.length));
    if (stream.readers <= most && (!isTogether || seated <= most)) return leave;
    leave();
    throw tooMany();
  }

  /** Keeps the seats of readers that stay. */
  @Interval(SEAT_RENEWAL, RENEW_EVERY_MS)
  async renew(): Promise<void> {
    if (!this.instances.isAlone) await Promise.all([...this.#seats].map(([seat, mark]) => this.take(mark, seat)));
  }

  /** @returns how many seats of the answer are taken, this one included; undefined when Redis does not answer. */
  private async take(mark: string, seat: string): Promise<number | undefined> {
    const nowMs = Math.round(this.clock.nowMs());
    const key = keyOf(mark);
    const replies = await this.redis.run((client) =>
      client
        .pipeline()
        .zremrangebyscore(key, '-inf', nowMs)
        .zadd(key, nowMs + SEAT_MS, seat)
        .pexpire(key, SEAT_MS)
        .zcard(key)
        .exec(),
    );
    const [error, seated] = replies?.at(-1) ?? [];
    return error || typeof seated !== 'number' ? undefined : seated;
  }

  private leave(stream: KeptStream, seat: string): void {
    stream.readers--;
    this.#seats.delete(seat);
    if (!this.instances.isAlone) void this.redis.run((client) => client.zrem(keyOf(stream.facts.mark), seat));
  }
}

function keyOf(mark: string): string {
  return `gw:stream-readers:${mark}`;
}

function tooMany(): GatewayError {
  return new GatewayError('rate_limited', {
    message: `At most ${MAX_READERS} clients may read an answer at a time.`,
    reason: 'stream_readers_exhausted',
    data: { scope: 'stream_readers' },
    retryAfterSeconds: RETRY_SECONDS,
  });
}
