import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock, instantOf } from '../../../common/clock.js';
import { errorText } from '../../../common/errors/error-text.js';
import { Log } from '../../../common/log/log.js';
import { Environment } from '../../../platform/config/environment.js';
import { type GuardedAnswer, GuardedRequest } from '../../../platform/outbound/guarded-request.js';
import { RevocationListRepository } from './revocation-list.repository.js';
import { readRevocationList } from './revocation-list.rules.js';

/** Name of the interval in the scheduler. */
const REVOCATION_LIST = 'android-revocation-list';
const LOOK_EVERY_MS = 20_000;
/**
 * Regardless of the caching headers. Tokens of attested keys live half an hour, so they become invalid within an hour
 * of a listing.
 */
const READ_EVERY_MS = 20 * 60_000;
/** A failed read, and one whose instance was killed, is repeated. */
const REPEAT_AFTER_MS = 60_000;
const TIMEOUT_MS = 10_000;
/** Parsing it takes tens of milliseconds. The real one has less than one MiB. */
const MAX_LIST_BYTES = 8 * 1024 * 1024;
const MAX_ETAG_LENGTH = 256;

/**
 * Reads the revocation list of Android key attestation every 20 minutes, one instance for all, while an application
 * accepts such keys. A failed read changes nothing.
 *
 * Source: docs/reference/security.md#revocation-of-android-keys.
 */
@Injectable()
export class RevocationListReader implements BeforeApplicationShutdown {
  private reading: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly lists: RevocationListRepository,
    private readonly outbound: GuardedRequest,
    private readonly environment: Environment,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Reads the list if a read is due. Resolves when no read is in progress. */
  @Interval(REVOCATION_LIST, LOOK_EVERY_MS)
  async look(): Promise<void> {
    if (this.isStopping || this.environment.ANDROID_REVOCATION_LIST === 'off') return;
    this.reading ??= this.readDue().finally(() => {
      this.reading = undefined;
    });
    await this.reading;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.reading;
  }

  private async readDue(): Promise<void> {
    const url = this.environment.ANDROID_REVOCATION_URL;
    try {
      const at = this.clock.now();
      const leased = await this.lists.lease(at, instantOf(at.getTime() + REPEAT_AFTER_MS), url);
      if (leased === undefined) return;
      const accept = { accept: 'application/json' };
      const headers = leased.etag === null ? accept : { ...accept, 'if-none-match': leased.etag };
      const answer = await this.outbound.get(url, { headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_LIST_BYTES });
      const reading = { at, nextAt: instantOf(at.getTime() + READ_EVERY_MS) };
      if (answer.status === 304 && leased.etag !== null) return await this.lists.confirm(reading);
      const serials = answer.status === 200 ? readRevocationList(answer.body) : undefined;
      if (serials === undefined) return this.failed(answer.status === 200 ? 'malformed' : `status ${answer.status}`);
      await this.lists.replace({ ...reading, url, etag: etagOf(answer), serials });
    } catch (error) {
      this.failed(errorText(error));
    }
  }

  private failed(error: string): void {
    this.log.event('android_revocation_list_failed', { error });
  }
}

function etagOf({ headers: { etag } }: GuardedAnswer): string | null {
  return typeof etag === 'string' && etag.length <= MAX_ETAG_LENGTH ? etag : null;
}
