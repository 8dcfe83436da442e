import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { queries } from '../api/queries';
import { Button, ButtonLink } from '../design/button';
import { PageHeader } from '../design/layout';
import { Loaded } from '../design/loaded';
import { FirstApplication } from './first-application';
import { FirstCallStep } from './first-call-step';
import { FirstProvider } from './first-provider';
import { STEPS, type Step, stepOf, stillThere } from './progress.rules';
import { useStartProgress } from './use-progress';

const TITLES: Readonly<Record<Step, string>> = {
  provider: 'A provider',
  application: 'An application',
  call: 'The first call',
};

/** From nothing to the first successful call. This browser keeps the progress; each step can be opened again. */
export function StartPage() {
  return (
    <div className="max-w-3xl">
      <PageHeader
        title="Guided start"
        lead="Three steps to a first streamed answer through your own application."
        actions={<ButtonLink to="/apps">Skip</ButtonLink>}
      />
      <Guide />
    </div>
  );
}

function Guide() {
  const [stored, setStored] = useStartProgress();
  const providers = useQuery(queries.providers());
  const list = useQuery({
    ...queries.apps({ query: stored.appId ?? '', limit: 1 }),
    placeholderData: keepPreviousData,
  });
  const [made, setMade] = useState<string>();
  const [key, setKey] = useState<string>();
  const [reopened, setReopened] = useState<Step>();
  if (providers.data === undefined) return <Loaded query={providers} rows={8} children={() => null} />;
  if (list.data === undefined) return <Loaded query={list} rows={8} children={() => null} />;
  const progress = stillThere(
    stored,
    providers.data.map(({ slug }) => slug),
    [...list.data.apps.map(({ id }) => id), ...(made === undefined ? [] : [made])],
  );
  const reached = stepOf(progress);
  const current = reopened !== undefined && STEPS.indexOf(reopened) < STEPS.indexOf(reached) ? reopened : reached;
  const cardOf = (step: Step, note?: string) => ({
    ...{ step, current, reached, note },
    onOpen: () => setReopened(step),
    onClose: () => setReopened(undefined),
  });
  return (
    <ol className="flex flex-col gap-4">
      <StepCard {...cardOf('provider', progress.providerSlug)}>
        <FirstProvider
          providers={providers.data}
          chosen={providers.data.find(({ slug }) => slug === progress.providerSlug)}
          onDone={(providerSlug, model) => {
            setReopened(undefined);
            setStored({ ...progress, providerSlug, model });
          }}
        />
      </StepCard>
      <StepCard {...cardOf('application', progress.appId)}>
        <FirstApplication
          onDone={(appId, afterId, appKey) => {
            setKey(appKey);
            setMade(appId);
            setReopened(undefined);
            setStored({ ...progress, appId, afterId });
          }}
        />
      </StepCard>
      <StepCard {...cardOf('call')}>
        {progress.appId !== undefined && progress.providerSlug !== undefined && (
          <FirstCallStep
            app={progress.appId}
            slug={progress.providerSlug}
            model={progress.model ?? ''}
            afterId={progress.afterId ?? 0}
            appKey={key}
            onKey={setKey}
            onSuccess={() => setStored({ ...progress, isFinished: true })}
            onProvider={() => setReopened('provider')}
          />
        )}
      </StepCard>
    </ol>
  );
}

function StepCard({
  step,
  current,
  reached,
  note,
  onOpen,
  onClose,
  children,
}: {
  readonly step: Step;
  /** The one that is open. */
  readonly current: Step;
  /** The first one that is not done. */
  readonly reached: Step;
  readonly note: string | undefined;
  readonly onOpen: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const number = STEPS.indexOf(step) + 1;
  const isDone = STEPS.indexOf(step) < STEPS.indexOf(reached);
  const isCurrent = step === current;
  const heading = useRef<HTMLHeadingElement>(null);
  const wasCurrent = useRef(isCurrent);
  useEffect(() => {
    if (isCurrent && !wasCurrent.current) heading.current?.focus();
    wasCurrent.current = isCurrent;
  }, [isCurrent]);
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
        <h2 ref={heading} tabIndex={-1} className="text-lg font-semibold outline-none">
          {TITLES[step]}
        </h2>
        {isDone && note !== undefined && <code className="truncate text-sm text-muted">{note}</code>}
        {isDone && (
          <span className="ml-auto">
            <Button
              size="sm"
              onClick={isCurrent ? onClose : onOpen}
              aria-label={`${isCurrent ? 'Leave as it is' : 'Change'}: ${TITLES[step].toLowerCase()}`}
            >
              {isCurrent ? 'Leave as it is' : 'Change'}
            </Button>
          </span>
        )}
      </div>
      {isCurrent && <div className="mt-4 sm:pl-9">{children}</div>}
    </li>
  );
}
