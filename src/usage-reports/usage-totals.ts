/** Usage of a period as the API returns it. Source: docs/reference/management-api.md#application-routes. */
export interface UsageTotals {
  readonly requests: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  /** US dollars. */
  readonly cost_usd: number;
  /** Estimate of unknown costs in addition to `cost_usd`; counts against budgets. US dollars. */
  readonly estimated_cost_usd: number;
  /** Requests with status `provider_error`. */
  readonly errors: number;
  /** Requests refused by a limit, a plan or a block. */
  readonly blocked: number;
}

export const NO_USAGE: UsageTotals = {
  requests: 0,
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  estimated_cost_usd: 0,
  errors: 0,
  blocked: 0,
};
