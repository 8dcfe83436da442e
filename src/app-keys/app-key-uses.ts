import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Log } from '../common/log/log.js';
import type { AppKey } from './app-key.js';
import { AppKeysRepository } from './app-keys.repository.js';

/** `last_used_at` is renewed at most this often. Source: docs/reference/application-api.md#api-keys. */
const RENEW_AFTER_MS = 60 * 60 * 1000;
/** Uses are collected this long and written together. */
const COLLECT_MS = 5_000;

/** A key in memory with the last use of it that is known here. */
export interface UsedAppKey {
  readonly key: AppKey;
  /** Milliseconds since the epoch; 0 = never. */
  lastUsedAtMs: number;
}

/** Writes down when keys were used: seldom, together, and never in the way of a request. */
@Injectable()
export class AppKeyUses implements BeforeApplicationShutdown {
  private readonly unwritten = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly repository: AppKeysRepository,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Notes a use of a key; does nothing when one was noted within the hour. */
  note(used: UsedAppKey): void {
    const nowMs = this.clock.nowMs();
    if (nowMs - used.lastUsedAtMs < RENEW_AFTER_MS) return;
    used.lastUsedAtMs = nowMs;
    this.unwritten.add(used.key.id);
    this.timer ??= setTimeout(() => void this.flush(), COLLECT_MS).unref();
  }

  /** Writes what was noted. A failure is logged and forgotten: the next use of the key is noted again. */
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
