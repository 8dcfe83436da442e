import { Int, OneOf, Text, Verbatim } from '../../common/fields/fields.js';
import { AUTH_EVENT_KINDS, type AuthEventFilter, type AuthEventKind } from '../auth-event.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

export class ListAuthEventsRequest {
  @Int({ min: 1, max: MAX_LIMIT, optional: true, description: `Most events to return; ${DEFAULT_LIMIT} when absent.` })
  limit?: number;

  @Text({ max: 200, optional: true, description: 'Only events with this outcome: `ok` or an error code.' })
  outcome?: string;

  @OneOf(AUTH_EVENT_KINDS, { optional: true, description: 'Only attempts of this kind.' })
  event?: AuthEventKind;

  @Verbatim({ max: 1024, optional: true, description: 'Only events of this user id.' })
  user?: string;

  @Int({ min: 1, optional: true, description: 'Only events with a smaller id.' })
  before_id?: number;

  toFilter(): AuthEventFilter {
    const { limit = DEFAULT_LIMIT, outcome, event, user, before_id: beforeId } = this;
    return { limit, outcome, event, user, beforeId };
  }
}
