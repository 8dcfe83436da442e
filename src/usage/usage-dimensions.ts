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
