import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import type { LimitedCall } from '../request-counting.js';
import { StoredCountsRepository, type UnsentCount } from './stored-counts.repository.js';

/** Maximum number of scopes with unstored notes; further scopes are not noted. */
const MAX_SCOPES = 10_000;
/** Maximum delay of a note, and retry interval while Postgres is unavailable. */
const STORE_MS = 1_000;

/**
 * Notes calls that were counted and are never sent. They stay counted but have no event, so the ledger needs the notes
 * to explain the counters. The notes are stored in one batch per second; a killed process loses those of the last
 * second.
 *
 * Source: docs/reference/application-api.md#request-limits, docs/reference/accounting.md#counted-refusals for the form.
 */
@Injectable()
export class UnsentRequests {
  private readonly waiting = new Map<string, UnsentCount>();
  private timer: NodeJS.Timeout | undefined;
  private storing: Promise<void> = Promise.resolve();

  constructor(
    private readonly stored: StoredCountsRepository,
    private readonly clock: Clock,
  ) {}

  /** Notes a call in each scope with a limit per day. Never waits, never throws. */
  note({ appId, userId, user, app }: LimitedCall): void {
    if (app?.perDay != null) this.add(appId, '');
    if (user?.perDay != null && userId !== null) this.add(appId, userId);
  }

  /** Stores all notes. Also returns after a failed attempt; the rest is retried within a second. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.storing = this.storing.then(() => this.store());
    return this.storing;
  }

  private add(appId: string, userId: string): void {
    const day = this.clock.utcDay();
    const key = `${appId}\n${day}\n${userId}`;
    const known = this.waiting.get(key);
    if (known === undefined && this.waiting.size >= MAX_SCOPES) return;
    this.waiting.set(key, { appId, userId, day, requests: (known?.requests ?? 0) + 1 });
    this.storeLater();
  }

  private storeLater(): void {
    this.timer ??= setTimeout(() => void this.flush(), STORE_MS).unref();
  }

  private async store(): Promise<void> {
    const counts = [...this.waiting.values()];
    if (counts.length === 0) return;
    this.waiting.clear();
    try {
      await this.stored.addUnsent(counts);
      await this.stored.pruneUnsent(this.clock.utcDay());
    } catch {
      // Postgres is unavailable, which other components log.
      for (const one of counts) this.putBack(one);
      this.storeLater();
    }
  }

  private putBack(one: UnsentCount): void {
    const key = `${one.appId}\n${one.day}\n${one.userId}`;
    const requests = one.requests + (this.waiting.get(key)?.requests ?? 0);
    this.waiting.set(key, { ...one, requests });
  }
}
