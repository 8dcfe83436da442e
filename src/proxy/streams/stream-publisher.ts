import { Injectable } from '@nestjs/common';
import type { RedisClient } from '../../platform/redis/redis-client.js';
import { RedisConnection } from '../../platform/redis/redis-connection.js';
import type { KeptStream } from './kept-stream.js';
import {
  addArguments,
  bytesEntry,
  endEntry,
  headEntry,
  keyOf,
  type SharedEnd,
  type SharedEntry,
} from './shared-stream.rules.js';
import type { NamedStream } from './stream-ids.service.js';

/** Bytes that arrive within this time are written together. */
const GATHER_MS = 20;
/** Interval of retries while Redis is lost, and of heartbeats of a silent answer. */
const RETRY_MS = 1_000;
const ALIVE_EVERY_MS = 5_000;
/** How much longer than `resume_seconds` a live answer is kept after its last heartbeat. */
const GRACE_MS = 60_000;
/** Redis's answer to an entry that it already has: the id is not larger than the last one. */
const WRITTEN_BEFORE = /equal or smaller/;

/** Publishes the kept answers of this instance in Redis, for readers on others. Nothing waits for it. */
@Injectable()
export class StreamPublisher {
  constructor(private readonly redis: RedisConnection) {}

  get isUsed(): boolean {
    return this.redis.state !== 'unused';
  }

  publish(stream: KeptStream, named: NamedStream): void {
    new PublishedStream(stream, named, this.redis);
  }
}

/** One published answer. Unconfirmed entries are written again; after a restart of Redis, all of them. */
class PublishedStream {
  /** Bytes that Redis has. */
  #written = 0;
  #hasHead = false;
  #isWriting = false;
  #timer: NodeJS.Timeout | undefined;
  #isSoon = false;
  /** The end, and the bytes that Redis may lack, held since then, because the store may forget them. */
  #tail: Tail | undefined;
  readonly #unfollow: () => void;

  constructor(
    private readonly stream: KeptStream,
    private readonly named: NamedStream,
    private readonly redis: RedisConnection,
  ) {
    this.#unfollow = stream.follow(() => this.#changed());
    this.#plan(0);
  }

  #changed(): void {
    if (this.stream.state !== 'live' && this.#tail === undefined) {
      this.#tail = tailOf(this.stream, this.#written);
      this.#unfollow();
    }
    this.#plan(GATHER_MS);
  }

  #plan(afterMs: number): void {
    if (this.#isWriting || this.#isSoon) return;
    clearTimeout(this.#timer);
    this.#isSoon = afterMs <= GATHER_MS;
    this.#timer = setTimeout(() => void this.#write(), afterMs).unref();
  }

  async #write(): Promise<void> {
    this.#isSoon = false;
    this.#isWriting = true;
    const { stream } = this;
    const [length, state, start] = [stream.length, stream.state, this.#written];
    const written = await this.redis.run((client) => this.#send(client, this.#entries(start)));
    this.#isWriting = false;
    if (written === true) {
      this.#hasHead = true;
      this.#written = length;
      if (state !== 'live') return;
      this.#plan(stream.length > length || stream.state !== 'live' ? GATHER_MS : ALIVE_EVERY_MS);
      return;
    }
    if (written === false) this.#again();
    if (this.#isWorthIt()) this.#plan(RETRY_MS);
  }

  /** Redis has lost it. */
  #again(): void {
    this.#hasHead = false;
    this.#written = 0;
    if (this.#tail !== undefined) this.#tail = { ...tailOf(this.stream, 0), end: this.#tail.end };
  }

  #isWorthIt(): boolean {
    return this.stream.state === 'live' || this.stream.read(0) !== undefined;
  }

  #entries(start: number): readonly SharedEntry[] {
    const { facts } = this.stream;
    const { key } = this.named;
    const entries = this.#hasHead ? [] : [headEntry(key, facts)];
    const tail = this.#tail ?? tailOf(this.stream, start);
    let at = tail.from;
    for (const piece of tail.pieces) {
      const lacked = piece.subarray(Math.max(0, start - at));
      at += piece.length;
      if (lacked.length > 0) entries.push(bytesEntry(key, at - lacked.length, lacked));
    }
    if (tail.end !== undefined) entries.push(endEntry(key, tail.end));
    return entries;
  }

  /** @returns false if Redis has lost earlier entries; undefined if it is full. */
  async #send(client: RedisClient, entries: readonly SharedEntry[]): Promise<boolean | undefined> {
    const { resumeSeconds } = this.stream.facts;
    const keptMs = resumeSeconds * 1000 + (this.stream.state === 'live' ? GRACE_MS : 0);
    const pipeline = client.pipeline();
    for (const [at, entry] of entries.entries())
      pipeline.xadd(...addArguments(this.named, entry, !this.#hasHead && at === 0));
    pipeline.pexpire(keyOf(this.named.mark), keptMs);
    const replies = (await pipeline.exec()) ?? [];
    const isRefused = replies.some(([error]) => error !== null && !WRITTEN_BEFORE.test(error.message));
    return isRefused ? undefined : replies.at(-1)?.[1] === 1;
  }
}

/** An answer from an offset on: its bytes as they lie, and its end. */
interface Tail {
  readonly from: number;
  readonly pieces: readonly Buffer[];
  /** Undefined while it is live. */
  readonly end: SharedEnd | undefined;
}

function tailOf(stream: KeptStream, from: number): Tail {
  const { state, isWhole, length, expiresAtMs } = stream;
  const end = state === 'live' ? undefined : { state, isWhole, length, expiresAtMs };
  return { from, pieces: stream.piecesFrom(from), end };
}
