/** What usage can be broken down by. Source: docs/reference/management-api.md#usage-reports. */
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

/** What sums still tell apart once the events of their days are gone. */
export const LASTING_DIMENSIONS: ReadonlySet<UsageDimension> = new Set(['model', 'provider', 'status']);

/** What usage is broken down by when nobody says. */
export const DEFAULT_DIMENSION: UsageDimension = 'model';
