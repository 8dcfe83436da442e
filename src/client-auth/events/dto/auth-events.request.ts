import { Int, OneOf, Text, Verbatim } from '../../../common/fields/fields.js';
import { BeforeId, DEFAULT_PAGE_LIMIT, PageLimit } from '../../../common/fields/list-fields.js';
import { AUTH_EVENT_KINDS, type AuthEventFilter, type AuthEventKind } from '../auth-event.js';

const DEFAULT_DAYS = 30;
const MAX_DAYS = 365;

export class AuthEventSummaryRequest {
  @Int({ min: 1, max: MAX_DAYS, optional: true, description: `UTC days, today included; ${DEFAULT_DAYS} when absent.` })
  days?: number;

  chosenDays(): number {
    return this.days ?? DEFAULT_DAYS;
  }
}

export class ListAuthEventsRequest {
  @PageLimit('events')
  limit?: number;

  @Text({
    max: 200,
    optional: true,
    description: 'Only events with this outcome: `ok`, `would_reject` or an error code.',
  })
  outcome?: string;

  @OneOf(AUTH_EVENT_KINDS, { optional: true, description: 'Only attempts of this kind.' })
  event?: AuthEventKind;

  @Verbatim({ max: 1024, optional: true, description: 'Only events of this user id.' })
  user?: string;

  @BeforeId()
  before_id?: number;

  toFilter(): AuthEventFilter {
    const { limit = DEFAULT_PAGE_LIMIT, outcome, event, user, before_id: beforeId } = this;
    return { limit, outcome, event, user, beforeId };
  }
}
