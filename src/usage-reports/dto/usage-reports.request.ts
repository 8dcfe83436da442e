import { OneOf, Text, Verbatim } from '../../common/fields/fields.js';
import { BeforeId, Day, DEFAULT_PAGE_LIMIT, Month, PageLimit } from '../../common/fields/list-fields.js';
import { PROVIDER_TYPES, type ProviderType } from '../../upstreams/provider-types.js';
import { DEFAULT_DIMENSION, USAGE_DIMENSIONS, type UsageDimension } from '../../usage/usage-columns.js';
import { USAGE_STATUSES, type UsageStatus } from '../../usage/usage-event.js';
import type { UsageEventFilter } from '../../usage/usage-rows.js';
import type { BreakdownQuestion } from '../usage-reports.service.js';

export class MonthUsageRequest {
  @Month({ form: 'a month as YYYY-MM', description: 'UTC month.' })
  month?: string;
}

export class UsageBreakdownRequest {
  @OneOf(USAGE_DIMENSIONS, { optional: true, description: `${DEFAULT_DIMENSION} when absent.` })
  by?: UsageDimension;

  @Day('First UTC day; 29 days before the last one when absent.')
  from?: string;

  @Day('Last UTC day, inclusive; today when absent.')
  to?: string;

  @PageLimit('rows')
  limit?: number;

  toQuestion(): BreakdownQuestion {
    const { by = DEFAULT_DIMENSION, limit = DEFAULT_PAGE_LIMIT, from, to } = this;
    return { by, limit, days: { from, to } };
  }
}

export class UsageTimeseriesRequest {
  @Day('First UTC day; 29 days before the last one when absent.')
  from?: string;

  @Day('Last UTC day, inclusive; today when absent.')
  to?: string;
}

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
