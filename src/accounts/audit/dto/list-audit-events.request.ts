import type { DayRange } from '../../../common/day-range.rules.js';
import { Text, Verbatim } from '../../../common/fields/fields.js';
import { BeforeId, Day, DEFAULT_PAGE_LIMIT, PageLimit } from '../../../common/fields/list-fields.js';
import type { AuditEventFilter } from '../audit-events.repository.js';

/** Extensions record their own actions, so only the format is validated. */
const ACTION = /^[^\s.]+\.[^\s.]+$/;

export class ListAuditEventsRequest {
  @PageLimit('events')
  limit?: number;

  @Text({
    max: 64,
    pattern: ACTION,
    patternText: 'an action such as app.created',
    optional: true,
    description: 'Only events of this action, such as `app.created`.',
  })
  action?: string;

  @Verbatim({ max: 300, optional: true, description: 'Only actions of this user.' })
  actor_id?: string;

  @Verbatim({ max: 300, optional: true, description: 'Only events of this application and its resources.' })
  app_id?: string;

  @Day('First UTC day; 29 days before `to` when only that is given. Without both: every day.')
  from?: string;

  @Day('Last UTC day, inclusive; today when only `from` is given.')
  to?: string;

  @BeforeId()
  before_id?: number;

  toFilter(): Omit<AuditEventFilter, 'days'> {
    const { limit = DEFAULT_PAGE_LIMIT, action, actor_id: actorId, app_id: appId, before_id: beforeId } = this;
    return { limit, action, actorId, appId, beforeId };
  }

  toDayRange(): Partial<DayRange> {
    return {
      ...(this.from === undefined ? {} : { from: this.from }),
      ...(this.to === undefined ? {} : { to: this.to }),
    };
  }
}
