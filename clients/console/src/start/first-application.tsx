import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { problemAt } from '../api/api-error';
import { api, read } from '../api/client';
import { queries } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { newConfig } from '../apps/app-config.rules';
import { Button } from '../design/button';
import { SelectField, TextField } from '../design/field';
import { ErrorAlert } from '../design/layout';
import { useReadOnlyReason } from '../shell/session';
import { newestEvent } from '../usage/latest-event';

/** Applications to choose from; the page Applications lists all. */
const MOST_OFFERED = 50;

type Done = (id: string, afterId: number, key: string | undefined) => void;

/** The second step: a server application and its first key, or one that exists. */
export function FirstApplication({ onDone }: { readonly onDone: Done }) {
  const client = useQueryClient();
  const reason = useReadOnlyReason();
  const [name, setName] = useState('My first application');
  const { run, error, isBusy } = useSubmit();
  const create = () =>
    run(async () => {
      const config = newConfig({ kind: 'server', teamId: '', bundleId: '', allowsDevelopment: false });
      const { app, api_key: key } = await read(api.POST('/v1/admin/apps', { body: { name, config } }));
      await client.invalidateQueries({ queryKey: ['apps'] });
      onDone(app.id, 0, key?.key);
    });
  const problem = problemAt(error, 'name');
  return (
    <div className="flex flex-col gap-6">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) void create();
        }}
      >
        <p className="text-muted">
          A server calls with a key. For a mobile app, on iOS or Android, choose <strong>New application</strong> under
          Applications later.
        </p>
        <TextField label="Application name" required maxLength={100} value={name} onChange={setName} error={problem} />
        {error !== undefined && problem === undefined && <ErrorAlert error={error} />}
        <div>
          <Button look="primary" type="submit" isBusy={isBusy} reason={reason}>
            Create
          </Button>
        </div>
      </form>
      <ExistingApplication onDone={onDone} />
    </div>
  );
}

/** Nothing without a server application. */
function ExistingApplication({ onDone }: { readonly onDone: Done }) {
  const { data: list } = useQuery(queries.apps({ sort: 'name', status: 'active', limit: MOST_OFFERED }));
  const [chosen, setChosen] = useState('');
  const { run, error, isBusy } = useSubmit();
  const usable = (list?.apps ?? []).filter(({ authentication_type: type }) => type === 'api_key');
  const id = usable.some((app) => app.id === chosen) ? chosen : usable[0]?.id;
  if (id === undefined) return null;
  return (
    <div className="flex flex-wrap items-start gap-3">
      <SelectField
        label="Or an existing application"
        value={id}
        options={usable.map(({ id: value, name }) => ({ value, label: name }))}
        onChange={setChosen}
      />
      <Button
        size="row"
        isBusy={isBusy}
        onClick={() => void run(async () => onDone(id, (await newestEvent(id))?.id ?? 0, undefined))}
      >
        Use it
      </Button>
      {error !== undefined && <ErrorAlert error={error} />}
    </div>
  );
}
