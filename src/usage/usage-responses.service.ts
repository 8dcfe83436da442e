import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { isStorableText } from '../common/fields/config-values.js';
import { lruCache } from '../common/lru-cache.js';
import { UsageRepository } from './usage.repository.js';

/** Capacity of the cache of this process's recent responses. */
const REMEMBERED = 20_000;
/**
 * Delay before the second lookup: another process may not yet have stored the event of a response its client already
 * has.
 */
const SECOND_LOOK_MS = 300;

/** Maps provider-side responses to the user that created them, so that no other user can continue them. */
@Injectable()
export class UsageResponses {
  /** Cache by application and response id. */
  private readonly recent = lruCache<{ userId: string | null }>(REMEMBERED);

  constructor(private readonly events: UsageRepository) {}

  /** Caches the creator of a response. */
  remember(appId: string, userId: string | null, responseId: string): void {
    this.recent.set(keyOf(appId, responseId), { userId });
  }

  /**
   * Whether this application created the response; with a user, whether that user did.
   *
   * @param userId null where the application has no users.
   */
  async createdBy(appId: string, userId: string | null, responseId: string): Promise<boolean> {
    const creator = this.recent.get(keyOf(appId, responseId)) ?? (await this.findStored(appId, responseId));
    return creator !== undefined && (userId === null || creator.userId === userId);
  }

  private async findStored(appId: string, responseId: string): Promise<{ userId: string | null } | undefined> {
    if (!isStorableText(responseId)) return undefined;
    const stored = await this.events.findResponseUser(appId, responseId);
    if (stored !== undefined) return stored;
    await sleep(SECOND_LOOK_MS);
    return this.events.findResponseUser(appId, responseId);
  }
}

function keyOf(appId: string, responseId: string): string {
  return `${appId}\n${responseId}`;
}
