import { Injectable } from '@nestjs/common';
import { StatementBatch } from '../../platform/database/statement-batch.js';
import { UsageRepository, type UserDay } from './usage.repository.js';
import { UsageSumsRepository } from './usage-sums.repository.js';

/** The application or user whose recorded requests are counted. */
export interface RecordedScope {
  readonly organizationId: string;
  readonly appId: string;
  /** Null: the whole application. */
  readonly userId: string | null;
}

/** Requests of one scope in one minute. */
export interface RecordedMinute {
  readonly appId: string;
  /** Empty for the whole application. */
  readonly userId: string;
  /** Milliseconds since the Unix epoch. */
  readonly minuteStartMs: number;
  readonly requests: number;
}

/** Recorded requests, the start values of the limit counters after a restart. */
@Injectable()
export class RecordedRequests {
  /** Most users of a process that has just started have to be counted, each once. */
  private readonly ofUsers = new StatementBatch((asked: readonly UserDay[]) =>
    this.events.countRequestsOfUsersOn(asked),
  );

  constructor(private readonly events: UsageRepository) {}

  /** Stored requests of a UTC day that were not refused. */
  countOn({ organizationId, appId, userId }: RecordedScope, day: string): Promise<number> {
    return userId === null
      ? this.events.countRequestsOn({ organizationId, id: appId }, day)
      : this.ofUsers.add({ organizationId, appId, userId, day });
  }

  /**
   * Stored requests that were not refused, of every user and application, by minute. They include all calls sent before
   * this process started, also those of a process that was killed.
   *
   * @param fromMs start of the first minute; milliseconds since the Unix epoch.
   */
  listMinutes(fromMs: number): Promise<readonly RecordedMinute[]> {
    return this.events.listMinutes(fromMs);
  }
}

/** Recorded requests of whole accounts, for the request quotas of plans. */
@Injectable()
export class RecordedAccountRequests {
  constructor(private readonly sums: UsageSumsRepository) {}

  /**
   * Stored requests that were not refused, of all applications of the account, including deleted ones.
   *
   * @param day the first UTC day, `YYYY-MM-DD`.
   */
  async countSince(organizationId: string, day: string): Promise<number> {
    return Number(await this.sums.countRequestsSince(organizationId, day));
  }
}
