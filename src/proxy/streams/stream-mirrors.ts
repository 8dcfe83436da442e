import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import { RedisConnection } from '../../platform/redis/redis-connection.js';
import type { KeptStream } from './kept-stream.js';
import { idAfter, keyOf, type OpenedEntry, openEntry, type RedisEntry } from './shared-stream.rules.js';
import { type NamedStream, StreamIds } from './stream-ids.service.js';
import { StreamStore } from './stream-store.js';

const LOOK_EVERY_MS = 50;
/** Entries per read. */
const LOOK_ENTRIES = 64;
/** How long the head of an answer may take to arrive, and its id may be ahead of it by a second of rounding. */
const NEW_FOR_MS = 3_000;
/** How long an answer may go without news from its owner or Redis. */
const SILENCE_MS = 5_000;
const RETRY_SECONDS = 1;

/**
 * Answers of other instances that have readers here: one copy in the store of this instance, shared by its readers and
 * filled from Redis. If the owner stopped without a last entry, the answer is lost.
 */
@Injectable()
export class StreamMirrors {
  constructor(
    private readonly store: StreamStore,
    private readonly ids: StreamIds,
    private readonly redis: RedisConnection,
    private readonly instances: InstanceRegistry,
    private readonly clock: SharedClock,
  ) {}

  /**
   * @returns a copy with everything published so far; undefined if nothing is.
   * @throws service_unavailable its owner is running, but Redis does not answer, or does not have it.
   */
  async find(named: NamedStream, appId: string): Promise<KeptStream | undefined> {
    if (this.redis.state === 'unused') return undefined;
    for (;;) {
      const entries = await this.read(named, '0-1', 1);
      if (entries === undefined && this.ownerLives(named)) throw unreachable();
      const [head] = entries ?? [];
      if (head?.kind === 'head') {
        const known = this.store.find(named.mark);
        if (known !== undefined) return known;
        const mirror = this.store.begin({ ...head.head, id: named.id, mark: named.mark, appId });
        await this.fill(mirror, named);
        void this.follow(mirror, named);
        return mirror;
      }
      const nowMs = this.clock.nowMs();
      if (!this.ownerLives(named) || nowMs >= named.mayExpireAtMs) return undefined;
      // Redis may have been restarted: its owner publishes it again.
      if (nowMs - named.issuedAtMs > NEW_FOR_MS) throw unreachable();
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** Adds the published entries. @returns whether Redis answered. */
  private async fill(mirror: KeptStream, named: NamedStream): Promise<boolean> {
    while (mirror.state === 'live') {
      const entries = await this.read(named, idAfter(mirror.length), LOOK_ENTRIES);
      if (entries === undefined) return false;
      for (const entry of entries) take(mirror, entry);
      if (entries.length < LOOK_ENTRIES) return true;
    }
    return true;
  }

  /** Polls for published entries while there are readers. */
  private async follow(mirror: KeptStream, named: NamedStream): Promise<void> {
    let heardAtMs = performance.now();
    while (mirror.state === 'live') {
      await sleep(LOOK_EVERY_MS, undefined, { ref: false });
      // An owner that has stopped may have written more before.
      const lives = this.ownerLives(named);
      if (await this.fill(mirror, named)) {
        heardAtMs = performance.now();
        if (!lives) mirror.end('lost');
      }
      if (mirror.state !== 'live') return;
      if (mirror.followers === 0 || performance.now() - heardAtMs > SILENCE_MS) this.store.forget(mirror);
    }
  }

  private ownerLives({ instance }: NamedStream): boolean {
    return this.instances.live.some(({ id }) => id !== this.instances.id && this.ids.instanceMark(id) === instance);
  }

  private async read({ mark, key }: NamedStream, from: string, count: number): Promise<OpenedEntry[] | undefined> {
    const entries = await this.redis.run<readonly RedisEntry[]>((client) =>
      client.xrangeBuffer(keyOf(mark), from, '+', 'COUNT', count),
    );
    return entries?.flatMap((entry) => openEntry(key, entry) ?? []);
  }
}

/** Entries may overlap after Redis has been restarted; a gap between them is a loss. */
function take(mirror: KeptStream, entry: OpenedEntry): void {
  if (entry.kind === 'bytes') {
    const { start, bytes } = entry;
    if (start > mirror.length) mirror.end('lost');
    else mirror.append(bytes.subarray(mirror.length - start));
  } else if (entry.kind === 'end') {
    const { state, isWhole, length, expiresAtMs } = entry.end;
    if (length === mirror.length) mirror.end(state, isWhole);
    else mirror.end('lost');
    mirror.expiresAtMs = expiresAtMs;
  }
}

function unreachable(): GatewayError {
  return new GatewayError('service_unavailable', {
    message: 'The instance that holds this answer is currently unreachable; try again shortly.',
    reason: 'stream_owner_unreachable',
    retryAfterSeconds: RETRY_SECONDS,
  });
}
