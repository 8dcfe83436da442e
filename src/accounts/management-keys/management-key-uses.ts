import { Injectable } from '@nestjs/common';
import { Clock, type Instant } from '../../common/clock.js';
import { LastUses } from '../../common/last-uses.js';
import { Log } from '../../common/log/log.js';
import { ManagementKeysRepository } from './management-keys.repository.js';

/** The interval at which an active connection gets tokens. Source: docs/reference/management-api.md#management-keys. */
const RENEW_AFTER_MS = 10 * 60 * 1000;

/** The last use of management keys; that of a connection is written with its tokens. */
@Injectable()
export class ManagementKeyUses extends LastUses {
  constructor(
    private readonly keys: ManagementKeysRepository,
    clock: Clock,
    private readonly log: Log,
  ) {
    super(clock, RENEW_AFTER_MS);
  }

  protected override write(ids: readonly string[], at: Instant, staleMs: number): Promise<void> {
    return this.keys.markUsed(ids, at, staleMs);
  }

  protected override onFailure(failed: { readonly keys: number; readonly error: string }): void {
    this.log.event('management_key_use_write_failed', failed);
  }
}
