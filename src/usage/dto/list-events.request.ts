import { Int, Text, Verbatim } from '../../common/fields/fields.js';
import type { UsageEventFilter } from '../usage-rows.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

export class ListEventsRequest {
  @Int({ min: 1, max: MAX_LIMIT, optional: true, description: `Most events to return; ${DEFAULT_LIMIT} when absent.` })
  limit?: number;

  @Text({ max: 64, optional: true, description: 'Only events with this status.' })
  status?: string;

  @Text({ max: 64, optional: true, description: 'Only events of this provider type.' })
  provider?: string;

  @Verbatim({ max: 1024, optional: true, description: 'Only events of this user id.' })
  user?: string;

  @Text({ max: 200, optional: true, description: 'Only events of this canonical model.' })
  model?: string;

  @Int({ min: 1, optional: true, description: 'Only events with a smaller id.' })
  before_id?: number;

  toFilter(): UsageEventFilter {
    const { limit = DEFAULT_LIMIT, before_id: beforeId, status, provider, user, model } = this;
    return { limit, status, provider, user, model, beforeId };
  }
}
