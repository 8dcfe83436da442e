import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Clock, Instant } from './clock.js';
import { errorText } from './errors/error-text.js';

/** Uses are collected for this time and written in one batch. */
const COLLECT_MS = 5_000;

/** Writes the last use of credentials in batches, outside the request path. */
export abstract class LastUses implements BeforeApplicationShutdown {
  private readonly unwritten = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly clock: Clock,
    /** A stored use younger than this is not replaced. */
    private readonly renewAfterMs: number,
  ) {}

  /** Updates the last use of these credentials, of any account, unless the stored one is younger than `staleMs`. */
  protected abstract write(ids: readonly string[], at: Instant, staleMs: number): Promise<void>;

  protected abstract onFailure(failed: { readonly keys: number; readonly error: string }): void;

  /**
   * Records a use, unless a recent one is known.
   *
   * @param lastUsedAtMs the known last use, in milliseconds since the epoch; 0 = never.
   * @returns the last use that is known from now on.
   */
  note(id: string, lastUsedAtMs: number): number {
    const nowMs = this.clock.nowMs();
    if (nowMs - lastUsedAtMs < this.renewAfterMs) return lastUsedAtMs;
    this.unwritten.add(id);
    this.timer ??= setTimeout(() => void this.flush(), COLLECT_MS).unref();
    return nowMs;
  }

  /** Writes the collected uses. After a failure the batch is dropped; a later use is recorded again. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const ids = [...this.unwritten];
    this.unwritten.clear();
    if (ids.length === 0) return;
    try {
      await this.write(ids, this.clock.now(), this.renewAfterMs);
    } catch (error) {
      this.onFailure({ keys: ids.length, error: errorText(error) });
    }
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.flush();
  }
}
