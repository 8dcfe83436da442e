/** How a call ended. */
export const CALL_STATUSES = [
  'ok',
  'provider_error',
  'blocked_app_rate',
  'blocked_app_budget',
  'blocked_billing',
  'blocked_user',
  'blocked_policy',
  'blocked_invalid',
] as const;
