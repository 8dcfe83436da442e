import { Injectable } from '@nestjs/common';
import { UsageSumsRepository } from './usage-sums.repository.js';

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
