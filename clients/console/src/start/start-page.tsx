import { useQuery } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { queries } from '../api/queries';
import { ButtonLink } from '../design/button';
import { PageHeader, Skeleton } from '../design/layout';
import { useSession } from '../shell/session';
import { FirstApplication } from './first-application';
import { FirstCallStep } from './first-call-step';
import { FirstProvider } from './first-provider';
import { STEPS, type StartProgress, type Step, stepOf, stillThere } from './progress.rules';

const TITLES: Readonly<Record<Step, string>> = {
  provider: 'A provider',
  application: 'An application',
  call: 'The first call',
};

/** From nothing to the first recorded call. Where one was is remembered in this browser. */
export function StartPage() {
  const { data: providers } = useQuery(queries.providers());
  const [stored, setStored] = useStoredProgress();
  const { data: list } = useQuery(queries.apps({ query: stored.appId ?? '', limit: 1 }));
  const [key, setKey] = useState<string>();
  if (providers === undefined || list === undefined) return <Skeleton rows={8} />;
  const progress = stillThere(
    stored,
    providers.map(({ slug }) => slug),
    list.apps.map(({ id }) => id),
  );
  const current = stepOf(progress);
  return (
    <div className="max-w-3xl">
      <PageHeader
        title="Guided start"
        lead="Three steps to a first streamed answer through your own application."
        actions={<ButtonLink to="/apps">Skip</ButtonLink>}
      />
      <ol className="flex flex-col gap-4">
        <StepCard step="provider" current={current} note={progress.providerSlug}>
          <FirstProvider
            providers={providers}
            onDone={(providerSlug, model) => setStored({ ...progress, providerSlug, model })}
          />
        </StepCard>
        <StepCard step="application" current={current} note={progress.appId}>
          <FirstApplication
            onDone={(appId, appKey) => {
              setKey(appKey);
              setStored({ ...progress, appId });
            }}
          />
        </StepCard>
        <StepCard step="call" current={current}>
          {progress.appId !== undefined && progress.providerSlug !== undefined && (
            <FirstCallStep
              app={progress.appId}
              slug={progress.providerSlug}
              model={progress.model ?? ''}
              appKey={key}
              onKey={setKey}
            />
          )}
        </StepCard>
      </ol>
    </div>
  );
}

function StepCard({
  step,
  current,
  note,
  children,
}: {
  readonly step: Step;
  readonly current: Step;
  readonly note?: string | undefined;
  readonly children: ReactNode;
}) {
  const number = STEPS.indexOf(step) + 1;
  const isDone = STEPS.indexOf(step) < STEPS.indexOf(current);
  const isCurrent = step === current;
  return (
    <li
      aria-current={isCurrent ? 'step' : undefined}
      className={`rounded-lg border bg-surface p-4 ${isCurrent ? 'border-accent' : 'border-line'}`}
    >
      <div className="flex items-center gap-3">
        <span
          className={`grid size-6 shrink-0 place-items-center rounded-full text-xs font-semibold ${
            isDone ? 'bg-good-soft text-good' : isCurrent ? 'bg-accent text-on-accent' : 'bg-sunken text-muted'
          }`}
        >
          {isDone ? <Check size={14} aria-label="done" /> : number}
        </span>
        <h2 className="text-lg font-semibold">{TITLES[step]}</h2>
        {isDone && note !== undefined && <code className="truncate text-sm text-muted">{note}</code>}
      </div>
      {isCurrent && <div className="mt-4 pl-9">{children}</div>}
    </li>
  );
}

/** Progress in this browser, for the organization of the session. */
function useStoredProgress(): readonly [StartProgress, (progress: StartProgress) => void] {
  const storageKey = `start of ${useSession().organization?.id}`;
  const [progress, setProgress] = useState<StartProgress>(() => JSON.parse(localStorage.getItem(storageKey) ?? '{}'));
  return [
    progress,
    (next) => {
      localStorage.setItem(storageKey, JSON.stringify(next));
      setProgress(next);
    },
  ];
}
