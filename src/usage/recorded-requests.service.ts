import { Injectable } from '@nestjs/common';
import { type RecordedMinute, RecordedRequests, type RecordedScope } from '../request-limits/recorded-requests.js';
import { UsageRepository } from './usage.repository.js';

/** Answers what request limits ask about recorded usage: counts of days begin with it. */
@Injectable()
export class StoredRequests extends RecordedRequests {
  constructor(private readonly events: UsageRepository) {
    super();
  }

  countOn({ organizationId, appId, userId }: RecordedScope, day: string): Promise<number> {
    const app = { organizationId, id: appId };
    return userId === null
      ? this.events.countRequestsOn(app, day)
      : this.events.countRequestsOfUserOn(app, userId, day);
  }

  listMinutes(fromMs: number): Promise<readonly RecordedMinute[]> {
    return this.events.listMinutes(fromMs);
  }
}
