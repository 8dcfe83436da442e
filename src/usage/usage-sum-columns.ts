/** Columns in which the sums of an application's UTC day tell events apart, in the order in which rows are locked. */
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

/** What the sums add of an event beside its requests. */
export const MEASURES = [
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'cost_nano_usd',
  'estimated_nano_usd',
] as const;

/** Columns that every table of sums has, each the sum of the events' own. */
export const SUM_COLUMNS = ['requests', ...MEASURES] as const;

/** What an event may have cost beside its cost: that much more it counts against budgets. */
export const ESTIMATE_OF_EVENT = 'greatest(coalesce(charged_nano_usd, cost_nano_usd) - cost_nano_usd, 0)';
