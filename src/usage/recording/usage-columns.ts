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

/** Estimate of an event, in addition to its cost; budgets count both. */
export const ESTIMATE_OF_EVENT = 'greatest(coalesce(charged_nano_usd, cost_nano_usd) - cost_nano_usd, 0)';

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
] as const;

export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** Dimensions that remain in the sums after the events of their days are deleted. */
export const LASTING_DIMENSIONS: ReadonlySet<UsageDimension> = new Set(['model', 'provider', 'status']);

export const DEFAULT_DIMENSION: UsageDimension = 'model';
