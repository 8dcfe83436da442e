import { Link } from 'wouter';
import { problemAt } from '../api/api-error';
import { ButtonLink } from '../design/button';
import { Checkbox } from '../design/field';
import { Card } from '../design/layout';
import { NumberField } from '../design/number-field';
import { useReadOnlyReason } from '../shell/session';
import { DraftForm, useAppDraft } from './app-draft';
import { GroupsCard } from './groups-card';
import { LimitFields } from './limit-fields';
import { LimitGauges } from './limit-gauges';
import { atLimitPath } from './user-address';

type Scope = 'per_user' | 'per_app';

export function LimitsTab() {
  const { draft, id } = useAppDraft();
  const { end_user: endUser, type } = draft.config.authentication;
  const hasUsers = type !== 'api_key' || (endUser !== undefined && endUser.source !== 'none');
  const takesKeys = type === 'api_key' && endUser?.source !== 'issuer';
  return (
    <div className="flex flex-col gap-6">
      <Card
        title="Whole application"
        lead="All callers together; an empty field is unlimited. What exceeds a limit or the budget is refused with 429."
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
            Callers of this application have no user identity. To limit each user,{' '}
            <Link href={`/apps/${id}/auth`} className="text-accent underline">
              set one up under Authentication
            </Link>
            .
          </p>
        )}
      </Card>
      <GroupsCard />
      {type === 'device_proofs' && <UnprovenCard />}
      {takesKeys && <RunsCard />}
    </div>
  );
}

function ScopeForm({ scope }: { readonly scope: Scope }) {
  const { draft, changeConfig } = useAppDraft();
  return (
    <DraftForm>
      <LimitFields
        limits={draft.config.limits?.[scope] ?? {}}
        onChange={(changed) => changeConfig({ limits: { ...draft.config.limits, [scope]: changed } })}
        path={`config.limits.${scope}`}
        hasTotal={scope === 'per_app'}
      />
    </DraftForm>
  );
}

/** The pool of the devices whose failed proof is admitted with limits. */
function UnprovenCard() {
  const { draft, changeConfig } = useAppDraft();
  const reason = useReadOnlyReason();
  const { unproven, ...limits } = draft.config.limits ?? {};
  const allowed = unproven?.allowed_endpoints;
  const set = (changed: NonNullable<typeof unproven>) => changeConfig({ limits: { ...limits, unproven: changed } });
  return (
    <Card
      title="Devices without a proof"
      lead="All devices with a failed proof together, if Authentication admits them with limits."
    >
      <DraftForm className="flex flex-col gap-6">
        <LimitFields limits={unproven ?? {}} onChange={set} path="config.limits.unproven" hasTotal />
        <Checkbox
          label="Limit them to some named endpoints"
          hint="Off: they may call what all may call."
          checked={allowed !== undefined}
          onChange={(isOn) => set({ ...unproven, allowed_endpoints: isOn ? [] : undefined })}
          reason={reason}
        />
        {allowed !== undefined &&
          Object.keys(draft.config.endpoints ?? {}).map((slug) => (
            <Checkbox
              key={slug}
              label={`They may call ${slug}`}
              checked={allowed.includes(slug)}
              onChange={(isOn) => {
                const others = allowed.filter((other) => other !== slug);
                set({ ...unproven, allowed_endpoints: isOn ? [...others, slug] : others });
              }}
              reason={reason}
            />
          ))}
      </DraftForm>
    </Card>
  );
}

/** Calls of one agent that share a budget. */
function RunsCard() {
  const { draft, changeConfig, error } = useAppDraft();
  const reason = useReadOnlyReason();
  const { runs, ...limits } = draft.config.limits ?? {};
  return (
    <Card
      title="Runs"
      lead="A backend gives the calls of one agent their own budget: X-Run-Id names the run, X-Run-Budget-Usd its budget."
    >
      <DraftForm className="grid gap-4 sm:grid-cols-3">
        <NumberField
          label="Largest budget of a run (USD)"
          hint="Empty: calls that name a run are refused."
          value={runs?.max_usd}
          onChange={(max_usd) =>
            changeConfig({ limits: max_usd === undefined ? limits : { ...limits, runs: { max_usd } } })
          }
          error={problemAt(error, 'config.limits.runs.max_usd') ?? problemAt(error, 'config.limits.runs')}
          reason={reason}
        />
      </DraftForm>
    </Card>
  );
}
