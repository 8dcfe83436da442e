import { Redis } from 'ioredis';
import type { Clock } from '../../common/clock.js';
import { systemErrorCode } from '../../common/errors/system-error-code.js';
import type { Log } from '../../common/log/log.js';
import type { Secret } from '../../common/log/secret.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { type BackoffBounds, backoffMs } from '../database/retry-unreachable.js';
import { requireRedisAddress } from './redis-address.rules.js';
import { causeOf, createRedisClient, probe, type RedisClient, type RedisTimeouts } from './redis-client.js';

const TIMEOUTS: RedisTimeouts = { commandMs: 250, connectMs: 1_000, discoveryMs: 300 };

/** Interval of the write probes; a dead idle connection or a read-only Redis is detected within 1.75 s. */
const PROBE_MS = 1_500;

/** Reconnect delays; together with the timeout of connecting below 5 s. */
const RECONNECT_BACKOFF: BackoffBounds = { minMs: 100, maxMs: 1_000 };

interface RedisConnectionOptions {
  /** Absent: Redis is not used, and every command yields `undefined`. */
  readonly url: Secret | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeouts?: RedisTimeouts;
}

/**
 * The connection to Redis, one server or several, maintained in the background. Its loss is not a failure: commands
 * yield no result, and every wait is bounded. Redis is a cache, so nothing is retried or queued during an outage.
 *
 * Log lines: redis_lost, redis_back, once per outage.
 * Source: docs/configuration.md, docs/reference/accounting.md#several-instances,
 * docs/reference/security.md#dependency-failures.
 */
export class RedisConnection {
  private client: RedisClient | undefined;
  private timer: NodeJS.Timeout | undefined;
  private failures = 0;
  private ready = false;
  private closed = false;
  /** True until the next event loop turn sends the commands of this one. */
  private sending = false;
  private lostAtMs: number | undefined;
  private readonly timeouts: RedisTimeouts;

  /** @throws Error for an invalid address. */
  constructor(private readonly options: RedisConnectionOptions) {
    this.timeouts = options.timeouts ?? TIMEOUTS;
    if (options.url !== undefined) requireRedisAddress(options.url.reveal());
  }

  /** `unused` without an address; otherwise whether Redis answers. */
  get state(): 'ok' | 'lost' | 'unused' {
    if (this.options.url === undefined) return 'unused';
    return this.ready ? 'ok' : 'lost';
  }

  /** Starts connecting in the background. It neither fails nor waits when Redis is unavailable. */
  open(): void {
    const { url } = this.options;
    if (url !== undefined && this.client === undefined && !this.closed) void this.connect(url);
  }

  /**
   * Runs a command.
   *
   * @param command sends it; called only while Redis answers.
   * @returns the result; `undefined` when there is none in time (250 ms), or at once while Redis is unavailable. Never
   * rejects.
   */
  run<T>(command: (client: RedisClient) => Promise<T>): MaybePromise<T | undefined> {
    if (this.client instanceof Redis && this.ready) this.batchWrites(this.client);
    return this.runNow(command);
  }

  /**
   * Runs a command like `run`, without waiting for others of this event loop turn: for callers that batch themselves.
   */
  runNow<T>(command: (client: RedisClient) => Promise<T>): MaybePromise<T | undefined> {
    const { client } = this;
    if (client === undefined || !this.ready) return undefined;
    return within(this.timeouts.commandMs, command(client)).catch((error: unknown) => {
      this.drop(client, error);
      return undefined;
    });
  }

  /** Closes the connection permanently; pending commands get no result. */
  close(): void {
    const { client } = this;
    this.closed = true;
    this.ready = false;
    this.client = undefined;
    clearTimeout(this.timer);
    client?.disconnect();
  }

  /**
   * Sends the commands of one event loop turn with one system call, so their replies also arrive together: each call
   * wakes Redis, and each reply wakes this process.
   */
  private batchWrites({ stream }: Redis): void {
    if (this.sending) return;
    this.sending = true;
    stream.cork();
    setImmediate(() => {
      this.sending = false;
      stream.uncork();
    });
  }

  private async connect(url: Secret): Promise<void> {
    const client = createRedisClient(requireRedisAddress(url.reveal()), this.failures, this.timeouts);
    this.client = client;
    client.on('error', (error) => this.drop(client, error));
    client.on('close', () => this.drop(client, new Error('the connection was closed')));
    try {
      await within(
        this.timeouts.connectMs,
        client.connect().then(() => probe(client)),
      );
    } catch (error) {
      this.drop(client, error);
      return;
    }
    if (this.client !== client) return;
    this.ready = true;
    this.logRecovery();
    this.keepProbing(client);
  }

  private keepProbing(client: RedisClient): void {
    this.timer = setTimeout(() => {
      within(this.timeouts.commandMs, probe(client)).then(
        () => {
          if (this.client !== client) return;
          this.failures = 0;
          this.keepProbing(client);
        },
        (error: unknown) => this.drop(client, error),
      );
    }, PROBE_MS);
  }

  /** Drops a connection, once, and schedules the next attempt. */
  private drop(client: RedisClient, error: unknown): void {
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
    log.event('redis_lost', { error: systemErrorCode(cause) ?? String(cause) });
  }

  private logRecovery(): void {
    if (this.lostAtMs === undefined) return;
    const { clock, log } = this.options;
    log.event('redis_back', { lostMs: Math.round(clock.monotonicMs() - this.lostAtMs) });
    this.lostAtMs = undefined;
  }
}

/**
 * Bounds a wait from the moment the command is sent, at the end of this event loop turn. A reply that is already in the
 * socket when the time ends, because this process was busy, still counts.
 */
function within<T>(ms: number, reply: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const begin = setImmediate(() => {
      timer = setTimeout(() => setImmediate(() => reject(new Error(`no answer within ${ms} ms`))), ms);
    });
    void reply.then(resolve, reject).finally(() => {
      clearImmediate(begin);
      clearTimeout(timer);
    });
  });
}
