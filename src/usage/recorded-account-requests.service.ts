import { Injectable } from '@nestjs/common';
import { UsageSumsRepository } from './usage-sums.repository.js';

/** Recorded requests of whole accounts, which their plans are held against. */
@Injectable()
export class RecordedAccountRequests {
  constructor(private readonly sums: UsageSumsRepository) {}

  /**
   * Requests of all its applications, deleted ones included, that were not refused and are stored.
   *
   * @param day the first UTC day that counts, `YYYY-MM-DD`.
   */
  async countSince(organizationId: string, day: string): Promise<number> {
    return Number(await this.sums.countRequestsSince(organizationId, day));
  }
}
