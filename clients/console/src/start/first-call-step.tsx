import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../api/api-error';
import { api, read } from '../api/client';
import { countText, moneyText } from '../design/amounts.rules';
import { Button, ButtonLink } from '../design/button';
import { CodeBlock } from '../design/copy';
import { TextField } from '../design/field';
import { Alert } from '../design/layout';
import { Tabs } from '../design/tabs';
import { newestEvent } from '../usage/latest-event';
import { firstCallSnippets } from './progress.rules';
import { SendFirstCall } from './send-first-call';

const PLACEHOLDER = 'YOUR_APPLICATION_KEY';
const POLL_MS = 1_000;

/** The third step: a call to copy, or to send from here; it ends with the first recorded event. */
export function FirstCallStep({
  app,
  slug,
  model: suggested,
  appKey,
  onKey,
}: {
  readonly app: string;
  readonly slug: string;
  readonly model: string;
  /** Shown once; a reload forgets it. */
  readonly appKey: string | undefined;
  readonly onKey: (key: string) => void;
}) {
  const [model, setModel] = useState(suggested);
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  const { data: event } = useQuery({
    queryKey: ['app', app, 'first event'],
    queryFn: async () => {
      const event = await newestEvent(app);
      if (event !== null) await client.invalidateQueries({ queryKey: ['apps'] });
      return event;
    },
    refetchInterval: ({ state }) => (state.data ? false : POLL_MS),
  });
  const another = async () => {
    setError(undefined);
    try {
      const params = { path: { app } };
      const { key } = await read(api.POST('/v1/admin/apps/{app}/keys', { params, body: { name: 'Guided start' } }));
      onKey(key);
    } catch (thrown) {
      setError(thrown);
    }
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
          The key was shown once, and is no longer available.
        </Alert>
      ) : (
        <CodeBlock label="The key of your application. This is the only time it is shown." code={appKey} />
      )}
      {error !== undefined && <Alert>{messageOf(error)}</Alert>}
      <TextField label="Model" value={model} onChange={setModel} className="sm:w-80" />
      <Tabs
        label="Language"
        tabs={snippets.map(({ value, label, code }) => ({
          value,
          label,
          content: <CodeBlock label={label} code={code} />,
        }))}
      />
      {appKey !== undefined && <SendFirstCall app={app} slug={slug} model={model} appKey={appKey} />}
      {event ? (
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
      ) : (
        <p className="text-sm text-muted" role="status">
          Waiting for the first request…
        </p>
      )}
    </div>
  );
}
