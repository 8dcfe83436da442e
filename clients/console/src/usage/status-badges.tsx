import type { Schemas } from '../api/client';
import { countText } from '../design/amounts.rules';
import { Badge } from '../design/layout';

export type UsageEvent = Schemas['UsageEventResponse'];

export const STATUSES = [
  { value: 'any', label: 'Any status' },
  { value: 'ok', label: 'Succeeded' },
  { value: 'provider_error', label: 'Provider error' },
  { value: 'blocked_app_rate', label: 'Refused: request limit' },
  { value: 'blocked_app_budget', label: 'Refused: budget' },
  { value: 'blocked_user', label: 'Refused: user blocked' },
  { value: 'blocked_billing', label: 'Refused: plan' },
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
