import { OneOf, Text } from '../../../common/fields/fields.js';
import { Day, DEFAULT_PAGE_LIMIT, PageLimit } from '../../../common/fields/list-fields.js';
import {
  ACCOUNT_DIMENSIONS,
  type AccountDimension,
  DEFAULT_DIMENSION,
  SERIES_DIMENSIONS,
  type SeriesDimension,
} from '../../recording/usage-columns.js';
import type { UsageScope } from '../../recording/usage-sums.repository.js';
import { type AskedBreakdown, type AskedSeries, SERIES_UNITS, type SeriesUnit } from '../account-usage.service.js';
import { BreakdownBy } from './usage-reports.request.js';

export class AccountUsageRequest {
  @Text({ max: 200, optional: true, description: 'Only usage of this application id.' })
  app?: string;

  @Day('First UTC day; 29 days before the last one when absent.')
  from?: string;

  @Day('Last UTC day, inclusive; today when absent.')
  to?: string;

  scopeIn(organizationId: string): UsageScope {
    return { organizationId, id: this.app ?? null };
  }
}

export class AccountTimeseriesRequest extends AccountUsageRequest {
  @OneOf(SERIES_DIMENSIONS, {
    optional: true,
    description: 'The dimension by which buckets are split; `provider` when absent.',
  })
  by?: SeriesDimension;

  @OneOf(SERIES_UNITS, { optional: true, description: 'Length of a bucket; `day` when absent.' })
  unit?: SeriesUnit;

  toQuestion(): AskedSeries {
    const { by = 'provider', unit = 'day', from, to } = this;
    return { by, unit, from, to };
  }
}

/** More rows than a spreadsheet shows. */
const ALL_ROWS = 1_000_000;

export class AccountBreakdownCsvRequest extends AccountUsageRequest {
  @BreakdownBy(ACCOUNT_DIMENSIONS)
  by?: AccountDimension;

  toQuestion(): AskedBreakdown {
    const { by = DEFAULT_DIMENSION, from, to } = this;
    return { by, limit: ALL_ROWS, from, to };
  }
}

export class AccountBreakdownRequest extends AccountUsageRequest {
  @BreakdownBy(ACCOUNT_DIMENSIONS)
  by?: AccountDimension;

  @PageLimit('rows')
  limit?: number;

  toQuestion(): AskedBreakdown {
    const { by = DEFAULT_DIMENSION, limit = DEFAULT_PAGE_LIMIT, from, to } = this;
    return { by, limit, from, to };
  }
}
