import { OneOf } from '../../common/fields/fields.js';
import { Day, DEFAULT_PAGE_LIMIT, Month, PageLimit } from '../../common/fields/list-fields.js';
import { DEFAULT_DIMENSION, USAGE_DIMENSIONS, type UsageDimension } from '../../usage/usage-dimensions.js';
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
