import { problemAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { ButtonLink } from '../design/button';
import { Card } from '../design/layout';
import { NumberField } from '../design/number-field';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';
import { LimitGauges } from './limit-gauges';
import { atLimitPath } from './user-address';

type ScopeLimits = Schemas['AppScopeLimits'];
type Scope = 'per_user' | 'per_app';

/** Each holds by itself. */
const BUDGETS = [
  { member: 'daily_usd', label: 'USD per day (UTC)', scopes: ['per_app', 'per_user'] },
  { member: 'weekly_usd', label: 'USD per week (from Monday, UTC)', scopes: ['per_app', 'per_user'] },
  { member: 'monthly_usd', label: 'USD per month (UTC)', scopes: ['per_app', 'per_user'] },
  { member: 'total_usd', label: 'USD in total', scopes: ['per_app'] },
] as const satisfies readonly { readonly member: string; readonly label: string; readonly scopes: readonly Scope[] }[];

export function LimitsTab() {
  const { draft, id } = useAppDraft();
  const { end_user: endUser, type } = draft.config.authentication;
  const hasUsers = type !== 'api_key' || (endUser !== undefined && endUser.source !== 'none');
  return (
    <div className="flex flex-col gap-6">
      <Card
        title="Whole application"
        lead="All callers together. What exceeds a limit or the budget is refused with 429."
      >
        <ScopeForm scope="per_app" />
        <LimitGauges />
      </Card>
      <Card
        title="Each user"
        lead="Counted separately for each user of the application."
        actions={
          hasUsers && (
            <ButtonLink to={atLimitPath(id)} size="sm">
              Who is at the limit
            </ButtonLink>
          )
        }
      >
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
        label="Requests per minute"
        reason={reason}
        hint="Empty: unlimited."
        value={limits.requests?.per_minute ?? undefined}
        onChange={(value) => set({ ...limits, requests: { ...limits.requests, per_minute: value ?? null } })}
        error={problemAt(error, `${path}.requests.per_minute`)}
      />
      <NumberField
        label="Requests per day (UTC)"
        reason={reason}
        hint="Empty: unlimited."
        value={limits.requests?.per_day ?? undefined}
        onChange={(value) => set({ ...limits, requests: { ...limits.requests, per_day: value ?? null } })}
        error={problemAt(error, `${path}.requests.per_day`)}
      />
      {BUDGETS.filter(({ scopes }) => scopes.some((one) => one === scope)).map(({ member, label }) => (
        <NumberField
          key={member}
          label={label}
          reason={reason}
          hint="Empty: unlimited."
          value={limits.spending?.[member] ?? undefined}
          onChange={(value) => set({ ...limits, spending: { ...limits.spending, [member]: value ?? null } })}
          error={problemAt(error, `${path}.spending.${member}`)}
        />
      ))}
    </div>
  );
}
