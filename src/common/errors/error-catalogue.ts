/** The HTTP status and default message of an error code; the thrower may set a more precise message. */
interface ErrorEntry {
  readonly status: number;
  readonly message: string;
}

/**
 * Every public error code with its status and default message. A test compares the catalogue with `docs/errors.md` and
 * the OpenAPI document. For codes with several statuses the thrower sets the status. Source:
 * docs/reference/management-api.md#errors-and-answer-headers, docs/reference/application-api.md#errors.
 */
export const ERRORS = {
  invalid_request: { status: 400, message: 'The request is not valid.' },
  app_revision_required: { status: 400, message: 'revision: send the revision you read.' },
  pricing_not_configured: { status: 400, message: 'The model has no price.' },
  provider_not_supported_by_gateway: { status: 400, message: 'The gateway does not serve this provider type.' },
  provider_key_invalid: { status: 400, message: 'The provider refused this key.' },
  unsupported_snippet: { status: 400, message: 'No example exists for this call.' },
  auth_required: { status: 401, message: 'A valid credential is required.' },
  billing_payment_required: { status: 402, message: 'The account has no active plan.' },
  forbidden: { status: 403, message: 'Your role does not allow this.' },
  session_required: { status: 403, message: 'Only a person signed in to the console may do this.' },
  not_a_member: { status: 403, message: 'You do not belong to this organization.' },
  account_exists: {
    status: 403,
    message: 'You already have an account; only a person without one may claim one.',
  },
  no_eligible_organization: {
    status: 403,
    message: 'You have no organization; create one, or ask for an invitation.',
  },
  registration_disabled: { status: 403, message: 'Registration is closed; ask for an invitation.' },
  account_expired: { status: 403, message: 'The account has expired.' },
  grant_insufficient: { status: 403, message: 'This credential is read-only.' },
  app_disabled: { status: 403, message: 'The application is disabled.' },
  attest_failed: { status: 403, message: 'The device could not be verified; register a new key.' },
  app_version_too_old: { status: 403, message: 'The app is too old; update it.' },
  issuer_token_rejected: { status: 403, message: 'The identity token was rejected; get a new one.' },
  issuer_claims_missing: { status: 403, message: 'The identity token lacks a required claim; wait and try again.' },
  auth_method_not_supported: { status: 403, message: 'The application does not support this authentication method.' },
  path_not_allowed: { status: 403, message: 'The application does not allow this provider path.' },
  model_not_allowed: { status: 403, message: 'The application does not allow this model.' },
  api_style_not_supported: { status: 403, message: 'The provider does not serve this API through this route.' },
  max_output_tokens_exceeded: { status: 403, message: 'The requested output limit is above the allowed maximum.' },
  app_not_found: { status: 404, message: 'Application not found.' },
  endpoint_not_found: { status: 404, message: 'The application has no such endpoint.' },
  stream_not_found: { status: 404, message: 'The application has no such stream of yours.' },
  not_found: { status: 404, message: 'Not found.' },
  operation_not_found: { status: 404, message: 'The account has no such operation.' },
  provider_not_found: { status: 404, message: 'The account has no such provider.' },
  app_revision_conflict: {
    status: 409,
    message: 'The application changed since you read it; read it again and merge.',
  },
  handle_taken: { status: 409, message: 'The handle is already in use.' },
  slug_taken: { status: 409, message: 'The slug is already in use.' },
  gateway_in_use: { status: 409, message: 'Providers are routed through this gateway.' },
  provider_gateway_managed: { status: 409, message: 'The gateway owns the credential of this provider.' },
  billing_plan_limit_reached: { status: 409, message: 'The limit of the plan is reached.' },
  conflict: { status: 409, message: 'The resource changed since you read it.' },
  idempotency_stream_ended: {
    status: 409,
    message: 'The call with this Idempotency-Key was stopped, or its answer is lost; send a new key.',
  },
  operation_pending: { status: 409, message: 'Not approved yet; try again after the approval.' },
  operation_denied: { status: 409, message: 'The operation was declined; start again.' },
  already_completed: { status: 409, message: 'Already completed.' },
  operation_mismatch: { status: 409, message: 'The operation was opened for another request.' },
  already_revealed: { status: 409, message: 'The key was already shown; it is shown only once.' },
  last_owner: { status: 409, message: 'An organization needs at least one owner; add another owner first.' },
  operation_expired: { status: 410, message: 'The operation has expired; start again.' },
  stream_expired: { status: 410, message: 'The answer is no longer kept; send the request again.' },
  resource_receipt_expired: {
    status: 410,
    message: 'This was already created; its key can no longer be shown again.',
  },
  resource_key_unavailable: { status: 410, message: 'This was already created; its key has been revoked or removed.' },
  payload_too_large: { status: 413, message: 'The request body is too large.' },
  idempotency_mismatch: { status: 422, message: 'This Idempotency-Key was sent with another request; send a new key.' },
  app_rate_limited: { status: 429, message: 'A request limit of the application is reached; try again later.' },
  app_budget_exhausted: { status: 429, message: 'A spending limit of the application is reached.' },
  billing_request_quota_exceeded: { status: 429, message: 'The plan’s requests for this period are used up.' },
  rate_limited: { status: 429, message: 'Too many requests; try again later.' },
  internal_error: { status: 500, message: 'An internal error occurred.' },
  provider_not_configured: { status: 502, message: 'The provider is not configured.' },
  provider_disabled: { status: 502, message: 'The provider is disabled.' },
  provider_unavailable: { status: 502, message: 'The provider is unavailable.' },
  provider_error: { status: 502, message: 'The provider could not be reached.' },
  issuer_verification_unavailable: {
    status: 503,
    message: 'The identity provider’s keys are unavailable; try again shortly.',
  },
  billing_unavailable: { status: 503, message: 'The account’s plan is unavailable; try again shortly.' },
  service_unavailable: { status: 503, message: 'The service is unavailable; try again shortly.' },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** The codes of 503. */
export type UnavailableCode = {
  [Code in ErrorCode]: (typeof ERRORS)[Code]['status'] extends 503 ? Code : never;
}[ErrorCode];

/** All others. */
export type RefusalCode = Exclude<ErrorCode, UnavailableCode>;
