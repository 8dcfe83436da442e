import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf, problemAt } from '../api/api-error';
import { api, read } from '../api/client';
import { newConfig } from '../apps/app-config.rules';
import { Button } from '../design/button';
import { TextField } from '../design/field';
import { Alert } from '../design/layout';
import { useReadOnlyReason } from '../shell/session';

/** The second step: a server application and its first key. */
export function FirstApplication({ onDone }: { readonly onDone: (id: string, key: string | undefined) => void }) {
  const client = useQueryClient();
  const reason = useReadOnlyReason();
  const [name, setName] = useState('My first application');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const create = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const config = newConfig({ kind: 'server', teamId: '', bundleId: '', allowsDevelopment: false });
      const { app, api_key: key } = await read(api.POST('/v1/admin/apps', { body: { name, config } }));
      await client.invalidateQueries({ queryKey: ['apps'] });
      onDone(app.id, key?.key);
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  const problem = problemAt(error, 'name');
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) void create();
      }}
    >
      <p className="text-muted">
        A server calls with a key. For an iOS app choose <strong>New application</strong> under Applications later.
      </p>
      <TextField label="Application name" required maxLength={100} value={name} onChange={setName} error={problem} />
      {error !== undefined && problem === undefined && <Alert>{messageOf(error)}</Alert>}
      <div>
        <Button look="primary" type="submit" isBusy={isBusy} reason={reason}>
          Create
        </Button>
      </div>
    </form>
  );
}
