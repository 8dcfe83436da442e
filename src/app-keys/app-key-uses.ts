import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Log } from '../common/log/log.js';
import type { AppKey } from './app-key.entity.js';
import { AppKeysRepository } from './app-keys.repository.js';

/** `last_used_at` is updated at most once in this period. Source: docs/reference/application-api.md#api-keys. */
const RENEW_AFTER_MS = 60 * 60 * 1000;
/** Uses are collected for this time and written in one batch. */
const COLLECT_MS = 5_000;

/** A cached key with its last known use. */
export interface UsedAppKey {
  readonly key: AppKey;
  /** Milliseconds since the epoch; 0 = never. */
  lastUsedAtMs: number;
}

/** Writes the last use of keys in batches, outside the request path. */
@Injectable()
export class AppKeyUses implements BeforeApplicationShutdown {
  private readonly unwritten = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly repository: AppKeysRepository,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Records a use of a key, unless one was recorded within the hour. */
  note(used: UsedAppKey): void {
    const nowMs = this.clock.nowMs();
    if (nowMs - used.lastUsedAtMs < RENEW_AFTER_MS) return;
    used.lastUsedAtMs = nowMs;
    this.unwritten.add(used.key.id);
    this.timer ??= setTimeout(() => void this.flush(), COLLECT_MS).unref();
  }

  /** Writes the collected uses. A failure is logged and the batch dropped; a later use of the key is recorded again. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const keyIds = [...this.unwritten];
    this.unwritten.clear();
    if (keyIds.length === 0) return;
    try {
      await this.repository.markUsed(keyIds, this.clock.now(), RENEW_AFTER_MS);
    } catch (error) {
      this.log.event('app_key_use_write_failed', {
        keys: keyIds.length,
        error: error instanceof Error ? error.message : 'unknown',
      });
    }
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.flush();
  }
}
