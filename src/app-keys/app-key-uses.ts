import { Injectable } from '@nestjs/common';
import { Clock, type Instant } from '../common/clock.js';
import { LastUses } from '../common/last-uses.js';
import { Log } from '../common/log/log.js';
import { AppKeysRepository } from './app-keys.repository.js';

/** `last_used_at` is updated at most once in this period. Source: docs/reference/application-api.md#api-keys. */
const RENEW_AFTER_MS = 60 * 60 * 1000;

/** The last use of application keys. */
@Injectable()
export class AppKeyUses extends LastUses {
  constructor(
    private readonly repository: AppKeysRepository,
    clock: Clock,
    private readonly log: Log,
  ) {
    super(clock, RENEW_AFTER_MS);
  }

  protected override write(keyIds: readonly string[], at: Instant, staleMs: number): Promise<void> {
    return this.repository.markUsed(keyIds, at, staleMs);
  }

  protected override onFailure(failed: { readonly keys: number; readonly error: string }): void {
    this.log.event('app_key_use_write_failed', failed);
  }
}
