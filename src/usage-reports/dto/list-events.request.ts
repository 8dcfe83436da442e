import { OneOf, Text, Verbatim } from '../../common/fields/fields.js';
import { BeforeId, DEFAULT_PAGE_LIMIT, PageLimit } from '../../common/fields/list-fields.js';
import { PROVIDER_TYPES, type ProviderType } from '../../upstreams/provider-types.js';
import { USAGE_STATUSES, type UsageStatus } from '../../usage/usage-event.js';
import type { UsageEventFilter } from '../../usage/usage-rows.js';

export class ListEventsRequest {
  @PageLimit('events')
  limit?: number;

  @OneOf(USAGE_STATUSES, { optional: true, description: 'Only events with this status.' })
  status?: UsageStatus;

  @OneOf(PROVIDER_TYPES, { optional: true, description: 'Only events of this provider type.' })
  provider?: ProviderType;

  @Verbatim({ max: 1024, optional: true, description: 'Only events of this user id.' })
  user?: string;

  @Text({ max: 200, optional: true, description: 'Only events of this canonical model.' })
  model?: string;

  @BeforeId()
  before_id?: number;

  toFilter(): UsageEventFilter {
    const { limit = DEFAULT_PAGE_LIMIT, before_id: beforeId, status, provider, user, model } = this;
    return { limit, status, provider, user, model, beforeId };
  }
}
