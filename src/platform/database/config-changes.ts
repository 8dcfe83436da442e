import pg from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import type { Secret } from '../../common/log/secret.js';
import { connectionConfig } from './connection.js';
import { backoffMs } from './retry-unreachable.js';

/** A change of stored configuration that instances cache. */
export interface ConfigChange {
  /** The kind of configuration, named by the module that publishes it. */
  readonly topic: string;
  /** The changed key; {@link EVERYTHING} when any key may have changed. */
  readonly key: string;
}

/** Stands for every key of a topic. */
export const EVERYTHING = '*';

/** Postgres rejects a notification of 8,000 bytes or more together with its transaction. */
const MAX_PAYLOAD_BYTES = 7_999;

/** The payload of a notification. A key that is too long becomes {@link EVERYTHING}, which is always correct. */
export function encodeChange(change: ConfigChange): string {
  const payload = JSON.stringify([change.topic, change.key]);
  if (Buffer.byteLength(payload) <= MAX_PAYLOAD_BYTES) return payload;
  return JSON.stringify([change.topic, EVERYTHING]);
}

/**
 * Parses the payload of {@link encodeChange}.
 *
 * @returns `undefined` for any other text, such as one from a newer version.
 */
export function parseChange(payload: string | undefined): ConfigChange | undefined {
  const parsed = parseJson(payload ?? '');
  if (!Array.isArray(parsed) || parsed.length !== 2) return undefined;
  const [topic, key]: unknown[] = parsed;
  if (typeof topic !== 'string' || typeof key !== 'string') return undefined;
  return { topic, key };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const CHANNEL = 'gateway_config';

/** Interval of the pings that keep a live connection from being silent. */
const PING_MS = 1_500;

/** A connection silent for this long is dead. A broken connection is detected within 4.5 s. */
const SILENCE_MS = 3_000;

type Subscriber = (key: string) => void;

export interface ConfigChangesOptions {
  readonly url: Secret;
  /** Called for each lost or refused connection and each error of a subscriber; reconnecting is automatic. */
  readonly onTrouble: (error: unknown) => void;
}

/**
 * Publishes configuration changes to every instance within a second, over LISTEN/NOTIFY on a dedicated connection.
 * Notifications may be lost, so subscribers also refresh by time. After each (re)connect every subscriber receives
 * {@link EVERYTHING}, because changes may have been missed.
 *
 * Source: docs/reference/management-api.md#propagation, docs/reference/security.md#revocation.
 */
export class ConfigChanges {
  private readonly subscribers = new Map<string, Set<Subscriber>>();
  private client: pg.Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private failures = 0;
  private listening = false;
  private closed = false;

  constructor(private readonly options: ConfigChangesOptions) {}

  /** True while notifications arrive; when false, only the refresh by time works. */
  get connected(): boolean {
    return this.listening;
  }

  /** Starts listening in the background. It neither fails nor waits when Postgres is unavailable. */
  open(): void {
    if (this.client === undefined && !this.closed) void this.connect();
  }

  /** Publishes a change when the transaction commits, and only then. */
  async publish(tx: EntityManager | DataSource, change: ConfigChange): Promise<void> {
    await tx.query('select pg_notify($1, $2)', [CHANNEL, encodeChange(change)]);
  }

  /**
   * Calls `subscriber` with the key of each change of the topic, or with {@link EVERYTHING}.
   *
   * @returns unsubscribes.
   */
  subscribe(topic: string, subscriber: Subscriber): () => void {
    const ofTopic = this.subscribers.get(topic) ?? new Set();
    this.subscribers.set(topic, ofTopic.add(subscriber));
    return () => ofTopic.delete(subscriber);
  }

  /** Applies a committed change on this instance at once, without waiting for its notification. */
  applyHere({ topic, key }: ConfigChange): void {
    this.notify(topic, key);
  }

  /** Stops listening permanently. */
  async close(): Promise<void> {
    this.closed = true;
    this.listening = false;
    clearTimeout(this.timer);
    const { client } = this;
    this.client = undefined;
    await client?.end();
  }

  private async connect(): Promise<void> {
    const client = new pg.Client(
      connectionConfig({
        url: this.options.url,
        applicationName: 'gateway-config',
        statementTimeoutMs: SILENCE_MS,
        silenceMs: SILENCE_MS,
      }),
    );
    this.client = client;
    client.on('error', (error) => this.lose(client, error));
    client.on('notification', ({ payload }) => this.deliver(payload));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
    } catch (error) {
      this.lose(client, error);
      return;
    }
    if (this.client !== client) return;
    this.failures = 0;
    this.listening = true;
    this.notifyAll();
    this.ping(client);
  }

  private ping(client: pg.Client): void {
    this.timer = setTimeout(() => {
      client.query('select 1').then(
        () => {
          if (this.client === client) this.ping(client);
        },
        (error: unknown) => this.lose(client, error),
      );
    }, PING_MS);
  }

  /** Drops a connection, once, and schedules the next attempt. */
  private lose(client: pg.Client, error: unknown): void {
    if (this.client !== client) return;
    this.client = undefined;
    this.listening = false;
    clearTimeout(this.timer);
    void client.end();
    this.failures++;
    this.timer = setTimeout(() => void this.connect(), backoffMs(this.failures));
    this.options.onTrouble(error);
  }

  private deliver(payload: string | undefined): void {
    const change = parseChange(payload);
    if (change === undefined) this.notifyAll();
    else this.notify(change.topic, change.key);
  }

  private notifyAll(): void {
    for (const topic of this.subscribers.keys()) this.notify(topic, EVERYTHING);
  }

  private notify(topic: string, key: string): void {
    for (const subscriber of this.subscribers.get(topic) ?? []) {
      try {
        subscriber(key);
      } catch (error) {
        this.options.onTrouble(error);
      }
    }
  }
}
