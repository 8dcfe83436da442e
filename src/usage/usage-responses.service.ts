import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { isStorableText } from '../common/fields/config-reader.js';
import { UsageRepository } from './usage.repository.js';

/** Responses of this process that are remembered, the most recent ones. */
const REMEMBERED = 20_000;
/** Another process may be about to store the event of a response its client has already seen. */
const SECOND_LOOK_MS = 300;

/** Knows who got which provider-side response, so that nobody continues somebody else's. */
@Injectable()
export class UsageResponses {
  /** By application and response id; the value is who got it. */
  private readonly recent = new LRUCache<string, { userId: string | null }>({ max: REMEMBERED });

  constructor(private readonly events: UsageRepository) {}

  /** Notes a response that a caller was given. */
  remember(appId: string, userId: string | null, responseId: string): void {
    this.recent.set(keyOf(appId, responseId), { userId });
  }

  /**
   * Whether this application got the response from its provider; when a user is given, whether this user did.
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
