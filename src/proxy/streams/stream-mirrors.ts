import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import type { LiveInstance } from '../../platform/instances/instances.repository.js';
import { RedisConnection } from '../../platform/redis/redis-connection.js';
import { InstanceStreams, type Look } from './instance-streams.service.js';
import type { KeptStream } from './kept-stream.js';
import { HEAD_ID, idAfter, keyOf, type OpenedEntry, openEntry, type RedisEntry } from './shared-stream.rules.js';
import type { NamedStream } from './stream-ids.service.js';
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
 * Answers that other instances read, as far as somebody reads them here: a copy in the store of this instance, which
 * all its readers share, filled from Redis, or from the owner while Redis is lost. When the owner has ended without a
 * last entry, the answer is lost.
 */
@Injectable()
export class StreamMirrors {
  constructor(
    private readonly store: StreamStore,
    private readonly others: InstanceStreams,
    private readonly redis: RedisConnection,
    private readonly instances: InstanceRegistry,
    private readonly clock: SharedClock,
  ) {}

  /**
   * @returns a copy with all that is published now; undefined when nothing is.
   * @throws service_unavailable its owner lives, but neither Redis nor the owner answers, or Redis does not have it.
   */
  async find(named: NamedStream, appId: string): Promise<KeptStream | undefined> {
    if (this.redis.state === 'unused') return undefined;
    for (;;) {
      const look = await this.look(named, undefined);
      if (look === undefined && this.ownerOf(named)) throw ownerUnreachable();
      const [head, ...further] = look?.entries ?? [];
      if (head?.kind === 'head') {
        const known = this.store.find(named.mark);
        if (known !== undefined) return known;
        const mirror = this.store.begin({ ...head.head, id: named.id, mark: named.mark, appId });
        for (const entry of further) take(mirror, entry);
        await this.fill(mirror, named);
        void this.follow(mirror, named);
        return mirror;
      }
      const nowMs = this.clock.nowMs();
      if (look?.isGone || !this.ownerOf(named) || nowMs >= named.mayExpireAtMs) return undefined;
      // Redis may have been restarted: its owner publishes it again.
      if (nowMs - named.issuedAtMs > NEW_FOR_MS) throw ownerUnreachable();
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** Adds what there is. @returns whether Redis or the owner has answered. */
  private async fill(mirror: KeptStream, named: NamedStream): Promise<boolean> {
    while (mirror.state === 'live') {
      const look = await this.look(named, mirror.length);
      if (look === undefined) return false;
      for (const entry of look.entries) take(mirror, entry);
      if (look.isGone) mirror.end('lost');
      if (look.isAll) return true;
    }
    return true;
  }

  /** Looks for what is added while somebody reads, and after the end of the owner. */
  private async follow(mirror: KeptStream, named: NamedStream): Promise<void> {
    let heardAtMs = performance.now();
    while (mirror.state === 'live') {
      await sleep(LOOK_EVERY_MS, undefined, { ref: false });
      // An owner that has ended may have written more before its end.
      const lives = this.ownerOf(named) !== undefined;
      const isRead = await this.fill(mirror, named);
      if (mirror.state !== 'live') return;
      if (isRead) heardAtMs = performance.now();
      const isSilent = performance.now() - heardAtMs > SILENCE_MS;
      if (lives && (isSilent || mirror.readers === 0)) this.store.forget(mirror);
      else if (!lives && (isSilent || isRead)) mirror.end('lost');
    }
  }

  private ownerOf(named: NamedStream): LiveInstance | undefined {
    return this.instances.live.find(({ id }) => id !== this.instances.id && named.isReadBy(id));
  }

  /**
   * Looks in Redis, and asks the owner where that does not help.
   *
   * @param from the first byte that is lacking; undefined: the head too.
   * @returns undefined when nobody answers.
   */
  private async look(named: NamedStream, from: number | undefined): Promise<Look | undefined> {
    const owner = this.ownerOf(named);
    const inRedis = owner?.redisAnswers === false ? undefined : await this.lookInRedis(named, from);
    const isEnough = inRedis !== undefined && (from !== undefined || inRedis.entries.length > 0);
    if (isEnough || owner === undefined) return inRedis;
    return (await this.others.look(named, owner, from ?? 0)) ?? inRedis;
  }

  private async lookInRedis({ mark, key }: NamedStream, from: number | undefined): Promise<Look | undefined> {
    const [first, count] = from === undefined ? [HEAD_ID, 1] : [idAfter(from), LOOK_ENTRIES];
    const found = await this.redis.run<readonly RedisEntry[]>((client) =>
      client.xrangeBuffer(keyOf(mark), first, '+', 'COUNT', count),
    );
    const entries = found?.flatMap(([, [, sealed]]) => (sealed && openEntry(key, sealed)) ?? []);
    return entries && { entries, isAll: entries.length < LOOK_ENTRIES };
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

export function ownerUnreachable(): GatewayError {
  return new GatewayError('service_unavailable', {
    message: 'The instance that holds this answer is currently unreachable; try again shortly.',
    reason: 'stream_owner_unreachable',
    retryAfterSeconds: RETRY_SECONDS,
  });
}
