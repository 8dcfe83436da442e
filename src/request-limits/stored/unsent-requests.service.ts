import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import type { LimitedCall } from '../limited-call.js';
import { type UnsentCount, UnsentRequestsRepository } from './unsent-requests.repository.js';

/** Scopes whose notes wait at the same time; further ones are not noted. */
const MAX_SCOPES = 10_000;
/** Longest a note waits, and how soon it is tried again while Postgres is away. */
const STORE_MS = 1_000;

/**
 * Notes calls that were counted and are never sent: they stay counted, as the contract says, and no event tells of them,
 * so that the ledger can. They are stored together, once a second; a process that is killed loses those of the last one.
 *
 * Source: docs/reference/application-api.md#request-limits, docs/reference/accounting.md#counted-refusals for the form.
 */
@Injectable()
export class UnsentRequests {
  private readonly waiting = new Map<string, UnsentCount>();
  private timer: NodeJS.Timeout | undefined;
  private storing: Promise<void> = Promise.resolve();

  constructor(
    private readonly repository: UnsentRequestsRepository,
    private readonly clock: Clock,
  ) {}

  /** Notes a call in each scope that counts it by the day. Never waits, never throws. */
  note({ appId, userId, user, app }: LimitedCall): void {
    if (app?.perDay != null) this.add(appId, '');
    if (user?.perDay != null && userId !== null) this.add(appId, userId);
  }

  /** Stores what was noted. Returns after an attempt that failed, too: what is left is tried again within a second. */
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
      await this.repository.add(counts);
      await this.repository.prune(this.clock.utcDay());
    } catch {
      // Postgres is away, which others tell of.
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
