import { useQuery } from '@tanstack/react-query';
import { problemAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { queries } from '../api/queries';
import { moneyText } from '../design/amounts.rules';
import { TextField } from '../design/field';
import { Card } from '../design/layout';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';
import { Gauge } from './gauge';

type ScopeLimits = Schemas['AppScopeLimits'];
type Scope = 'per_user' | 'per_app';

export function LimitsTab() {
  const { id, draft } = useAppDraft();
  const { data: list } = useQuery(queries.apps());
  const summary = list?.apps.find((app) => app.id === id);
  const { end_user: endUser, type } = draft.config.authentication;
  const hasUsers = type === 'device_app_attest' || (endUser !== undefined && endUser.source !== 'none');
  return (
    <div className="flex flex-col gap-6">
      <Card title="Whole application" lead="All callers together. Requests in excess are refused with 429.">
        <ScopeForm scope="per_app" />
        {summary !== undefined && summary.monthly_budget_usd !== null && (
          <Gauge
            label="Spent of this month’s budget"
            used={summary.usage.cost_usd}
            limit={summary.monthly_budget_usd}
            text={moneyText}
          />
        )}
      </Card>
      <Card title="Each user" lead="Counted for every user of the application by itself.">
        {hasUsers ? (
          <ScopeForm scope="per_user" />
        ) : (
          <p className="text-muted">
            Callers of this application have no user identity. Set one up under Authentication to limit each user.
          </p>
        )}
      </Card>
    </div>
  );
}

function ScopeForm({ scope }: { readonly scope: Scope }) {
  const { draft, changeConfig, error } = useAppDraft();
  const reason = useReadOnlyReason();
  const limits: ScopeLimits = draft.config.limits?.[scope] ?? {};
  const set = (changed: ScopeLimits) => changeConfig({ limits: { ...draft.config.limits, [scope]: changed } });
  const path = `config.limits.${scope}`;
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <NumberField
        label="Requests a minute"
        reason={reason}
        value={limits.requests?.per_minute}
        onChange={(per_minute) => set({ ...limits, requests: { ...limits.requests, per_minute } })}
        error={problemAt(error, `${path}.requests.per_minute`)}
      />
      <NumberField
        label="Requests a day (UTC)"
        reason={reason}
        value={limits.requests?.per_day}
        onChange={(per_day) => set({ ...limits, requests: { ...limits.requests, per_day } })}
        error={problemAt(error, `${path}.requests.per_day`)}
      />
      <NumberField
        label="Dollars a month (UTC)"
        reason={reason}
        value={limits.spending?.monthly_usd}
        onChange={(monthly_usd) => set({ ...limits, spending: { monthly_usd } })}
        error={problemAt(error, `${path}.spending.monthly_usd`)}
      />
    </div>
  );
}

function NumberField({
  label,
  value,
  onChange,
  error,
  reason,
}: {
  readonly label: string;
  readonly value: number | null | undefined;
  readonly onChange: (value: number | null) => void;
  readonly error: string | undefined;
  readonly reason: string | undefined;
}) {
  return (
    <TextField
      label={label}
      hint="Empty: unlimited."
      inputMode="decimal"
      reason={reason}
      value={value === null || value === undefined ? '' : String(value)}
      onChange={(text) => {
        const number = Number(text);
        if (text.trim() === '') onChange(null);
        else if (Number.isFinite(number)) onChange(number);
      }}
      error={error}
    />
  );
}
