import type { Schemas } from '../api/client';
import { countText } from '../design/amounts.rules';
import { Badge } from '../design/layout';
import { Time } from '../design/time';
import { refusalText } from './refusal.rules';

export type UsageEvent = Schemas['UsageEventResponse'];

export const STATUSES = [
  { value: 'any', label: 'Any status' },
  { value: 'ok', label: 'Succeeded' },
  { value: 'provider_error', label: 'Provider error' },
  { value: 'refused', label: 'Refused' },
  { value: 'blocked_app_rate', label: 'Refused: request limit' },
  { value: 'blocked_app_budget', label: 'Refused: budget' },
  { value: 'blocked_user', label: 'Refused: user blocked' },
  { value: 'blocked_billing', label: 'Refused: plan' },
  { value: 'blocked_policy', label: 'Refused: not allowed' },
  { value: 'blocked_invalid', label: 'Refused: not valid' },
] as const;

/** Error codes of refusals. */
export const REASONS = [
  { value: '', label: 'Any reason' },
  { value: 'app_rate_limited', label: 'Request limit reached' },
  { value: 'app_budget_exhausted', label: 'Budget used up' },
  { value: 'auth_required', label: 'User blocked' },
  { value: 'model_not_allowed', label: 'Model not allowed' },
  { value: 'path_not_allowed', label: 'Path not allowed' },
  { value: 'api_style_not_supported', label: 'API not supported' },
  { value: 'max_output_tokens_exceeded', label: 'Output limit too high' },
  { value: 'endpoint_not_found', label: 'No such endpoint' },
  { value: 'pricing_not_configured', label: 'Model has no price' },
  { value: 'provider_not_configured', label: 'No such provider' },
  { value: 'provider_disabled', label: 'Provider disabled' },
  { value: 'billing_payment_required', label: 'No active plan' },
  { value: 'billing_request_quota_exceeded', label: 'Plan used up' },
  { value: 'invalid_request', label: 'Request not valid' },
  { value: 'payload_too_large', label: 'Body too large' },
] as const;

export function StatusBadges({ event }: { readonly event: UsageEvent }) {
  const { status, cost_source: source, estimated_cost_usd: estimated, requests } = event;
  const tone = status === 'ok' ? 'good' : status === 'provider_error' ? 'bad' : 'warn';
  return (
    <span className="flex flex-wrap gap-1">
      <Badge tone={tone}>{STATUSES.find(({ value }) => value === status)?.label ?? status}</Badge>
      {requests > 1 && <Badge>{countText(requests)} calls</Badge>}
      {source === 'unresolved' && <Badge tone="bad">Cost unresolved</Badge>}
      {estimated > 0 && <Badge tone="warn">Cost estimated</Badge>}
    </span>
  );
}

/** Why a call was refused, as the caller was told, and until when; nothing for other calls. */
export function RefusalWords({ event: { refusal } }: { readonly event: UsageEvent }) {
  if (refusal === null) return null;
  return (
    <span className="mt-1 block text-sm break-words text-muted">
      {refusalText(refusal)}
      {refusal.until !== null && (
        <>
          {' '}
          Until <Time at={refusal.until} />.
        </>
      )}
    </span>
  );
}
