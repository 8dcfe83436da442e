import { Injectable } from '@nestjs/common';
import { RecordedAccountRequests } from '../entitlements/recorded-account-requests.js';
import { UsageSumsRepository } from './usage-sums.repository.js';

/** Answers what plans must know of recorded usage. */
@Injectable()
export class StoredAccountRequests extends RecordedAccountRequests {
  constructor(private readonly sums: UsageSumsRepository) {
    super();
  }

  async countSince(organizationId: string, day: string): Promise<number> {
    return Number(await this.sums.countRequestsSince(organizationId, day));
  }
}
