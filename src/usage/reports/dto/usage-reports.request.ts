import { OneOf, Text, Verbatim } from '../../../common/fields/fields.js';
import { BeforeId, Day, DEFAULT_PAGE_LIMIT, Month, PageLimit } from '../../../common/fields/list-fields.js';
import { PROVIDER_TYPES, type ProviderType } from '../../../upstreams/provider-types.js';
import {
  type AppDimension,
  DEFAULT_DIMENSION,
  GROUP_DIMENSION,
  USAGE_DIMENSIONS,
} from '../../recording/usage-columns.js';
import { REFUSED_STATUSES, type RefusedStatus, USAGE_STATUSES, type UsageStatus } from '../../recording/usage-event.js';
import type { UsageEventFilter } from '../../recording/usage-rows.js';
import type { BreakdownQuestion } from '../usage-reports.service.js';

export class MonthUsageRequest {
  @Month({ form: 'a month as YYYY-MM', description: 'UTC month.' })
  month?: string;
}

/** A dimension of a breakdown, or a kind of groups. */
export function BreakdownBy(dimensions: readonly string[]): PropertyDecorator {
  const words = dimensions.join(', ');
  return Text({
    max: 'group:'.length + 32,
    pattern: new RegExp(`^(?:${dimensions.join('|')})$|${GROUP_DIMENSION.source}`),
    patternText: `one of ${words}, or group:<name>`,
    optional: true,
    description: `One of ${words}, or \`group:<name>\` of \`limits.groups\`; ${DEFAULT_DIMENSION} when absent.`,
  });
}

export class UsageBreakdownRequest {
  @BreakdownBy(USAGE_DIMENSIONS)
  by?: AppDimension;

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

  @OfProvider()
  provider?: ProviderType;

  @OfUser()
  user?: string;

  @OfModel()
  model?: string;

  @BeforeId()
  before_id?: number;

  toFilter(): UsageEventFilter {
    const { limit = DEFAULT_PAGE_LIMIT, before_id: beforeId, status, provider, user, model } = this;
    return { limit, statuses: status && [status], provider, user, model, beforeId };
  }
}

/** As `ListEventsRequest`, of calls that were refused before they reached a provider. */
export class ListRejectionEventsRequest {
  @PageLimit('events')
  limit?: number;

  @OneOf(REFUSED_STATUSES, { optional: true, description: 'Only refusals for this reason.' })
  status?: RefusedStatus;

  @OfProvider()
  provider?: ProviderType;

  @OfUser()
  user?: string;

  @OfModel()
  model?: string;

  @BeforeId()
  before_id?: number;

  toFilter(): UsageEventFilter {
    const { limit = DEFAULT_PAGE_LIMIT, before_id: beforeId, status, ...filter } = this;
    return { ...filter, limit, statuses: status === undefined ? REFUSED_STATUSES : [status], beforeId };
  }
}

function OfProvider(): PropertyDecorator {
  return OneOf(PROVIDER_TYPES, { optional: true, description: 'Only events of this provider type.' });
}

function OfUser(): PropertyDecorator {
  return Verbatim({ max: 1024, optional: true, description: 'Only events of this user id.' });
}

function OfModel(): PropertyDecorator {
  return Text({ max: 200, optional: true, description: 'Only events of this canonical model.' });
}
