/** Group-by columns of `usage_days`, in the order in which its rows are locked. */
export const DAY_DIMENSIONS = [
  'provider_type',
  'provider_slug',
  'provider_gateway_id',
  'credential_source',
  'model_author',
  'model',
  'route',
  'endpoint_slug',
  'app_version',
  'status',
  'cost_source',
] as const;

/** Summed columns of an event in addition to its requests. */
export const MEASURES = [
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'cost_nano_usd',
  'estimated_nano_usd',
] as const;

/** Columns of every table of sums; each is the sum of the column of the events. */
export const SUM_COLUMNS = ['requests', ...MEASURES] as const;

/** Columns of the sums that are not by status: failed and blocked requests have separate counts. */
export const TOTAL_COLUMNS = [...SUM_COLUMNS, 'errors', 'blocked'] as const;

/** Estimate of an event, in addition to its cost; budgets count both. */
export const ESTIMATE_OF_EVENT = 'greatest(coalesce(charged_nano_usd, cost_nano_usd) - cost_nano_usd, 0)';

/** Class of a time of an event in `usage_latencies`: each ends 10 % above the one before it. */
export const timeClass = (column: 'latency_ms' | 'duration_ms') =>
  `ceil(ln(greatest(${column}, 1)::float8) / ln(1.1::float8))::integer`;

/** Dimensions of usage breakdowns. Source: docs/reference/management-api.md#usage-reports. */
export const USAGE_DIMENSIONS = [
  'model',
  'provider',
  'provider_slug',
  'provider_gateway',
  'credential_source',
  'model_author',
  'user',
  'status',
  'cost_source',
  'route',
  'endpoint',
  'app_version',
  'key',
] as const;

/** Each kind of groups of an application is a dimension. */
export const GROUP_DIMENSION = /^group:[a-z0-9-]{1,32}$/;

export type GroupDimension = `group:${string}`;

export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** Dimensions of breakdowns of one application. */
export type AppDimension = UsageDimension | GroupDimension;

export function isGroupDimension(by: string): by is GroupDimension {
  return GROUP_DIMENSION.test(by);
}

/** Dimensions of breakdowns of a whole account. */
export const ACCOUNT_DIMENSIONS = [...USAGE_DIMENSIONS, 'app'] as const;

export type AccountDimension = (typeof ACCOUNT_DIMENSIONS)[number] | GroupDimension;

const OF_APPS: ReadonlySet<AccountDimension> = new Set(['user', 'endpoint', 'key']);

/** Whether the keys of a dimension name something of one application; two applications may have the same. */
export function isOfApps(by: AccountDimension): boolean {
  return OF_APPS.has(by) || isGroupDimension(by);
}

/** Dimensions of time series of a whole account: few keys, and all of them lasting. */
export const SERIES_DIMENSIONS = ['provider', 'model', 'app', 'status'] as const;

export type SeriesDimension = (typeof SERIES_DIMENSIONS)[number];

/** Dimensions that remain in the sums after the events of their days are deleted. */
export const LASTING_DIMENSIONS: ReadonlySet<AccountDimension | AppDimension> = new Set(SERIES_DIMENSIONS);

export const DEFAULT_DIMENSION: UsageDimension = 'model';
