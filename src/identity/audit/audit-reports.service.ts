import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { type DayRange, dayRange } from '../../common/day-range.rules.js';
import type { AdminPrincipal } from '../admin-principal.js';
import type { AuditEventFilter, AuditEventPage } from './audit-event.js';
import { AuditEventsRepository } from './audit-events.repository.js';

/** Read side of the audit trail. */
@Injectable()
export class AuditReports {
  constructor(
    private readonly events: AuditEventsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * @param asked the day range of the request; every day when both ends are absent.
   * @throws invalid_request naming `from` or `to`, as `dayRange`.
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
