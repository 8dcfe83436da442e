import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read } from '../api/client';
import { queries } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { type CallProblem, problemOfEvent, type Remedy } from '../apps/call-problem.rules';
import { countText, moneyText } from '../design/amounts.rules';
import { Button, ButtonLink } from '../design/button';
import { CodeBlock } from '../design/copy';
import { Alert, ErrorAlert } from '../design/layout';
import { Loaded } from '../design/loaded';
import { Tabs } from '../design/tabs';
import { ModelField } from '../models/model-field';
import { newestEvent } from '../usage/latest-event';
import type { UsageEvent } from '../usage/status-badges';
import { firstCallSnippets } from './progress.rules';
import { SendFirstCall } from './send-first-call';

const PLACEHOLDER = 'YOUR_APPLICATION_KEY';
const POLL_MS = 1_000;

/** The first successful call after an event; until then, the newest one. */
async function firstCall(app: string, afterId: number): Promise<UsageEvent | null> {
  const event = (await newestEvent(app, 'ok')) ?? null;
  const shown = event !== null && event.id > afterId ? event : await newestEvent(app);
  return shown !== null && shown.id > afterId ? shown : null;
}

/** The third step: a call to copy, or to send from here; it ends with the first successful recorded call. */
export function FirstCallStep({
  app,
  slug,
  model: suggested,
  afterId,
  appKey,
  onKey,
  onSuccess,
  onProvider,
}: {
  readonly app: string;
  readonly slug: string;
  readonly model: string;
  readonly afterId: number;
  /** Shown once; a reload discards it. */
  readonly appKey: string | undefined;
  readonly onKey: (key: string) => void;
  readonly onSuccess: () => void;
  /** Goes back to the provider. */
  readonly onProvider: () => void;
}) {
  const [model, setModel] = useState(suggested);
  const [problem, setProblem] = useState<CallProblem>();
  const { run, error } = useSubmit();
  const client = useQueryClient();
  const { data: providers = [] } = useQuery(queries.providers());
  const query = useQuery({
    queryKey: ['app', app, 'first call', afterId],
    queryFn: async () => {
      const event = await firstCall(app, afterId);
      if (event?.status === 'ok') {
        onSuccess();
        await client.invalidateQueries({ queryKey: ['apps'] });
      }
      return event;
    },
    refetchInterval: ({ state }) => (state.data?.status === 'ok' ? false : POLL_MS),
  });
  const another = () =>
    run(async () => {
      const params = { path: { app } };
      const { key } = await read(api.POST('/v1/admin/apps/{app}/keys', { params, body: { name: 'Guided start' } }));
      onKey(key);
      setProblem(undefined);
    });
  const remedies: Readonly<Record<Remedy, (() => void) | string | undefined>> = {
    provider: onProvider,
    key: () => void another(),
    limits: `/apps/${app}/limits`,
    proxy: `/apps/${app}/proxy`,
    settings: `/apps/${app}/settings`,
    model: undefined,
    none: undefined,
  };
  const snippets = firstCallSnippets({ origin: location.origin, app, slug, model, key: appKey ?? PLACEHOLDER });
  return (
    <div className="flex flex-col gap-4">
      {appKey === undefined ? (
        <Alert
          tone="warn"
          actions={
            <Button size="sm" onClick={() => void another()}>
              Create another key
            </Button>
          }
        >
          A key is shown once, when it is created, and is no longer available.
        </Alert>
      ) : (
        <CodeBlock label="Your application key. It is shown only once." code={appKey} />
      )}
      {error !== undefined && <ErrorAlert error={error} />}
      <ModelField
        label="Model"
        model={model}
        onChange={setModel}
        providers={providers.filter((one) => one.slug === slug)}
        className="sm:w-80"
      />
      <Tabs
        label="Language"
        tabs={snippets.map(({ value, label, code }) => ({
          value,
          label,
          content: <CodeBlock label={label} code={code} />,
        }))}
      />
      {appKey !== undefined && (
        <SendFirstCall app={app} slug={slug} model={model} appKey={appKey} onProblem={setProblem} />
      )}
      {problem !== undefined && <Problem problem={problem} remedy={remedies[problem.remedy]} />}
      <Loaded query={query} rows={1}>
        {(event) => {
          if (event?.status === 'ok') return <Arrived app={app} event={event} />;
          const recorded = event === null ? undefined : problemOfEvent(event);
          return (
            <>
              {recorded !== undefined && problem === undefined && (
                <Problem problem={recorded} remedy={remedies[recorded.remedy]} />
              )}
              <p className="text-sm text-muted" role="status">
                {event === null ? 'Waiting for the first call…' : 'Waiting for a call that succeeds…'}
              </p>
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

const ACTS: Readonly<Partial<Record<Remedy, string>>> = {
  provider: 'Correct the provider',
  key: 'Create another key',
  limits: 'Limits',
  proxy: 'Proxy',
  settings: 'Settings',
};

function Problem({
  problem: { text, remedy: kind },
  remedy,
}: {
  readonly problem: CallProblem;
  readonly remedy: (() => void) | string | undefined;
}) {
  const label = ACTS[kind] ?? '';
  return (
    <Alert
      actions={
        typeof remedy === 'string' ? (
          <ButtonLink size="sm" to={remedy}>
            {label}
          </ButtonLink>
        ) : (
          remedy !== undefined && (
            <Button size="sm" onClick={remedy}>
              {label}
            </Button>
          )
        )
      }
    >
      {text}
    </Alert>
  );
}

function Arrived({ app, event }: { readonly app: string; readonly event: UsageEvent }) {
  return (
    <Alert
      tone="good"
      actions={
        <ButtonLink to={`/apps/${app}/overview`} look="primary">
          Open the application
        </ButtonLink>
      }
    >
      <strong>Your first request has arrived</strong>
      <br />
      {event.model}: {countText(event.input_tokens)} tokens in, {countText(event.output_tokens)} out,{' '}
      {moneyText(event.cost_usd)}.
    </Alert>
  );
}
