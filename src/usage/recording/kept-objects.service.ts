import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { isStorableText } from '../../common/fields/config-values.js';
import { Log } from '../../common/log/log.js';
import { lruCache } from '../../common/lru-cache.js';
import { WriteBatch } from '../../platform/database/write-batch.js';
import { type KeptObject, KeptObjectsRepository } from './kept-objects.repository.js';

/** Capacity of the cache of this process's recent objects. */
const REMEMBERED = 50_000;
/**
 * Delay before the second lookup: another process may not yet have stored the event of an answer its client already
 * has.
 */
const SECOND_LOOK_MS = 300;
const BATCH_OBJECTS = 2_000;
const GATHER_MS = 50;
/** Beyond this the oldest are dropped: their owners send the content again. */
const MAX_WAITING = 100_000;

/**
 * Maps objects that providers keep (responses, their items, containers, …) to the application and user they were made
 * for, so that no one else can reference them. Source: ADR 0028.
 */
@Injectable()
export class KeptObjects implements OnApplicationShutdown {
  /** Users by application and id. */
  private readonly recent = lruCache<{ userId: string | null }>(REMEMBERED);
  private readonly batch = new WriteBatch<KeptObject>({
    maxItems: BATCH_OBJECTS,
    gatherMs: GATHER_MS,
    run: (objects) => this.write(objects),
  });

  constructor(
    private readonly repository: KeptObjectsRepository,
    private readonly log: Log,
  ) {}

  /** Remembers the owner of a response, whose event stores it. */
  rememberResponse(appId: string, userId: string | null, id: string): void {
    this.recent.set(keyOf(appId, id), { userId });
  }

  /** Remembers and stores the owner of objects. */
  remember(appId: string, userId: string | null, ids: readonly string[]): void {
    for (const id of ids) {
      const key = keyOf(appId, id);
      if (this.recent.get(key) !== undefined) continue;
      this.recent.set(key, { userId });
      if (this.batch.waiting >= MAX_WAITING) this.batch.dropOldest();
      this.batch.add({ appId, userId, id });
    }
  }

  /**
   * The first of these objects that was not made for this application and this user.
   *
   * @param userId null: for no user. What was made for a user belongs to no call without one, and vice versa.
   */
  async findForeign(appId: string, userId: string | null, ids: readonly string[]): Promise<string | undefined> {
    const isForeign = (id: string) => this.recent.get(keyOf(appId, id))?.userId !== userId;
    const unknown = () => ids.filter((id) => isStorableText(id) && this.recent.get(keyOf(appId, id)) === undefined);
    await this.lookUp(appId, unknown());
    if (unknown().length > 0) {
      await sleep(SECOND_LOOK_MS);
      await this.lookUp(appId, unknown());
    }
    return ids.find(isForeign);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.batch.run();
  }

  private async lookUp(appId: string, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    for (const [id, userId] of await this.repository.findOwners(appId, ids))
      this.recent.set(keyOf(appId, id), { userId });
  }

  private async write(objects: readonly KeptObject[]): Promise<readonly KeptObject[]> {
    try {
      await this.repository.store(objects);
      return [];
    } catch (error) {
      this.log.event('kept_objects_write_failed', {
        pending: this.batch.waiting + objects.length,
        error: String(error),
      });
      return objects;
    }
  }
}

function keyOf(appId: string, id: string): string {
  return `${appId}\n${id}`;
}
