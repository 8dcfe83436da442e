import { Redis } from 'ioredis';
import type { Clock } from '../../common/clock.js';
import { errorCode } from '../../common/errors/error-code.js';
import type { Log } from '../../common/log/log.js';
import type { Secret } from '../../common/log/secret.js';
import type { Ready } from '../../common/when-ready.js';
import { type BackoffBounds, backoffMs } from '../database/backoff.rules.js';
import { requireRedisAddress } from './redis-address.rules.js';
import { causeOf, createRedisClient, probe, type RedisClient } from './redis-client.js';

/** How long a command may take before Redis counts as lost. */
const ANSWER_MS = 250;

/** How long connecting may take, with authentication and a first write. */
const CONNECT_MS = 1_000;

/** A write this often tells within 1.75 s that an idle connection is dead or that Redis takes no writes. */
const PROBE_MS = 1_500;

/** Pauses between attempts to connect; with `CONNECT_MS` below 5 s. */
const RECONNECT_BACKOFF: BackoffBounds = { minMs: 100, maxMs: 1_000 };

interface RedisConnectionOptions {
  /** Absent: there is no Redis, every question is answered by "none". */
  readonly url: Secret | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The connection to Redis, one server or several, kept in the background: losing it is no failure, only the absence of an answer, and each
 * wait is bounded. Redis is a cache, so nothing is sent twice and nothing queues while it is away.
 *
 * Log lines: redis_lost, redis_back, once each an outage.
 * Source: docs/configuration.md, docs/reference/accounting.md#several-instances,
 * docs/reference/security.md#dependency-failures.
 */
export class RedisConnection {
  private client: RedisClient | undefined;
  private timer: NodeJS.Timeout | undefined;
  private failures = 0;
  private ready = false;
  private closed = false;
  /** The next turn of the event loop sends what is asked in this one. */
  private sending = false;
  private lostAtMs: number | undefined;

  /** @throws Error for an address that cannot be read. */
  constructor(private readonly options: RedisConnectionOptions) {
    if (options.url !== undefined) requireRedisAddress(options.url.reveal());
  }

  /** `unused` without an address; else whether Redis answers. */
  get state(): 'ok' | 'lost' | 'unused' {
    if (this.options.url === undefined) return 'unused';
    return this.ready ? 'ok' : 'lost';
  }

  /** Starts connecting in the background. Does not fail and does not wait: Redis may come later. */
  open(): void {
    const { url } = this.options;
    if (url !== undefined && this.client === undefined && !this.closed) void this.connect(url);
  }

  /**
   * Puts a question to Redis.
   *
   * @param ask sends the command; called only while Redis answers.
   * @returns the answer; `undefined` when there is none within 250 ms, at once while Redis is away. Never rejects.
   */
  run<T>(ask: (client: RedisClient) => Promise<T>): Ready<T | undefined> {
    const { client } = this;
    if (client === undefined || !this.ready) return undefined;
    if (client instanceof Redis) this.sendTogether(client);
    return within(ANSWER_MS, ask(client)).catch((error: unknown) => {
      this.lose(client, error);
      return undefined;
    });
  }

  /** Ends the connection for good; open questions get no answer. */
  close(): void {
    const { client } = this;
    this.closed = true;
    this.ready = false;
    this.client = undefined;
    clearTimeout(this.timer);
    client?.disconnect();
  }

  /**
   * Questions of one turn of the event loop go out with one call to the system, and their answers come together: each
   * call wakes Redis, and each answer wakes this process.
   */
  private sendTogether({ stream }: Redis): void {
    if (this.sending) return;
    this.sending = true;
    stream.cork();
    setImmediate(() => {
      this.sending = false;
      stream.uncork();
    });
  }

  private async connect(url: Secret): Promise<void> {
    const client = createRedisClient(requireRedisAddress(url.reveal()), this.failures);
    this.client = client;
    client.on('error', (error) => this.lose(client, error));
    client.on('close', () => this.lose(client, new Error('the connection was closed')));
    try {
      await within(
        CONNECT_MS,
        client.connect().then(() => probe(client)),
      );
    } catch (error) {
      this.lose(client, error);
      return;
    }
    if (this.client !== client) return;
    this.ready = true;
    this.sayThatItIsBack();
    this.keepProbing(client);
  }

  private keepProbing(client: RedisClient): void {
    this.timer = setTimeout(() => {
      within(ANSWER_MS, probe(client)).then(
        () => {
          if (this.client !== client) return;
          this.failures = 0;
          this.keepProbing(client);
        },
        (error: unknown) => this.lose(client, error),
      );
    }, PROBE_MS);
  }

  /** Gives up a connection, once, and plans the next attempt. */
  private lose(client: RedisClient, error: unknown): void {
    const { url, clock, log } = this.options;
    if (this.client !== client || url === undefined) return;
    this.client = undefined;
    this.ready = false;
    clearTimeout(this.timer);
    client.disconnect();
    this.failures++;
    this.timer = setTimeout(() => void this.connect(url), backoffMs(this.failures, RECONNECT_BACKOFF));
    if (this.lostAtMs !== undefined) return;
    this.lostAtMs = clock.monotonicMs();
    const cause = causeOf(error);
    log.event('redis_lost', { error: errorCode(cause) ?? String(cause) });
  }

  private sayThatItIsBack(): void {
    if (this.lostAtMs === undefined) return;
    const { clock, log } = this.options;
    log.event('redis_back', { lostMs: Math.round(clock.monotonicMs() - this.lostAtMs) });
    this.lostAtMs = undefined;
  }
}

/**
 * Bounds a wait, which begins when the question is sent: at the end of this turn of the event loop. An answer that lies
 * in the socket already, because this process was held up, still counts.
 */
function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const begin = setImmediate(() => {
      timer = setTimeout(() => setImmediate(() => reject(new Error(`no answer within ${ms} ms`))), ms);
    });
    void answer.then(resolve, reject).finally(() => {
      clearImmediate(begin);
      clearTimeout(timer);
    });
  });
}
