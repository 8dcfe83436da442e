import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { type DayRange, dayRange } from '../../common/day-range.rules.js';
import type { AdminPrincipal } from '../admin-principal.js';
import type { AuditEventFilter, AuditEventPage } from './audit-event.js';
import { AuditEventsRepository } from './audit-events.repository.js';

/** What people read of the trail. */
@Injectable()
export class AuditReports {
  constructor(
    private readonly events: AuditEventsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * @param asked days as far as the caller names them; every day when it names none.
   * @throws invalid_request naming `from` or `to`, as `dayRange` says.
   */
  async page(
    { organizationId }: AdminPrincipal,
    filter: Omit<AuditEventFilter, 'days'>,
    asked: Partial<DayRange>,
  ): Promise<AuditEventPage> {
    const isNamed = asked.from !== undefined || asked.to !== undefined;
    const days = isNamed ? dayRange(asked, this.clock.utcDay()) : undefined;
    return { limit: filter.limit, events: await this.events.list(organizationId, { ...filter, days }) };
  }
}
