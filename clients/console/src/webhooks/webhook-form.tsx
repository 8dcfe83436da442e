import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { problemAt } from '../api/api-error';
import { queries, type Webhook } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { TextField } from '../design/field';
import { ErrorAlert } from '../design/layout';
import { AppChoice } from './app-choice';
import { EventChoice } from './event-choice';
import type { EventType } from './event-filter.rules';

const MAX_NAME = 100;

/** The settings of a webhook. */
export interface WebhookDraft {
  readonly url: string;
  /** Empty: the host of the URL. */
  readonly name: string;
  readonly events: string[] | null;
  readonly apps: string[] | null;
}

/** The settings of a new webhook, or of a stored one. */
export function WebhookForm({
  webhook,
  types,
  act,
  onCancel,
  onSave,
}: {
  readonly webhook?: Webhook;
  /** Every type of event. */
  readonly types: readonly EventType[];
  /** The button, as `Create`. */
  readonly act: string;
  readonly onCancel: () => void;
  readonly onSave: (draft: WebhookDraft) => Promise<void>;
}) {
  const client = useQueryClient();
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [name, setName] = useState(webhook?.name ?? '');
  const [events, setEvents] = useState(webhook?.events ?? null);
  const [apps, setApps] = useState(webhook?.apps ?? null);
  const { run, error, isBusy } = useSubmit();
  const isAtField = ['url', 'name', 'events', 'apps'].some((field) => problemAt(error, field) !== undefined);
  const save = () =>
    run(async () => {
      await onSave({ url, name, events, apps });
      await client.invalidateQueries({ queryKey: queries.webhooks().queryKey });
    });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField
        label="URL"
        type="url"
        inputMode="url"
        autoComplete="off"
        placeholder="https://hooks.example.com/gateway"
        required
        value={url}
        onChange={setUrl}
        error={problemAt(error, 'url')}
      />
      <TextField
        label="Name"
        maxLength={MAX_NAME}
        autoComplete="off"
        required={webhook !== undefined}
        {...(webhook === undefined ? { hint: 'Empty: the host of the URL.' } : {})}
        value={name}
        onChange={setName}
        error={problemAt(error, 'name')}
      />
      <EventChoice types={types} filter={events} onChange={setEvents} error={problemAt(error, 'events')} />
      <AppChoice filter={apps} onChange={setApps} error={problemAt(error, 'apps')} />
      {error !== undefined && !isAtField && <ErrorAlert error={error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button look="primary" type="submit" isBusy={isBusy}>
          {act}
        </Button>
      </div>
    </form>
  );
}
