import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { problemAt } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { queries } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { TextField } from '../design/field';
import { Badge, Card, EmptyState, ErrorAlert } from '../design/layout';
import { Loaded } from '../design/loaded';
import { Revocation } from '../design/revocation';
import { SecretDialog } from '../design/secret-dialog';
import { type Column, Table } from '../design/table';
import { Time } from '../design/time';
import { useReadOnlyReason } from '../shell/session';

type AppKey = Schemas['AppKeyResponse'];

/** Members whose refusal is shown next to their field. */
const FIELDS = ['name', 'expires_at'];

/** The keys with which servers call as the application. */
export function AppKeys({ app }: { readonly app: string }) {
  const query = useQuery(queries.appKeys(app));
  const client = useQueryClient();
  const reason = useReadOnlyReason();
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState('');
  const [secret, setSecret] = useState<string>();
  const { run, error: problem } = useSubmit();
  const [revoking, setRevoking] = useState<AppKey>();
  const refresh = () => client.invalidateQueries({ queryKey: queries.appKeys(app).queryKey });
  const create = () =>
    run(async () => {
      const params = { path: { app } };
      const body = { name, ...(expiry === '' ? {} : { expires_at: new Date(expiry).toISOString() }) };
      const issued = await read(api.POST('/v1/admin/apps/{app}/keys', { params, body }));
      setSecret(issued.key);
      setName('');
      setExpiry('');
      await refresh();
    });
  const revoke = async ({ id }: AppKey) => {
    await read(api.POST('/v1/admin/apps/{app}/keys/{key}/revoke', { params: { path: { app, key: id } } }));
    await refresh();
  };
  const columns: readonly Column<AppKey>[] = [
    { key: 'name', header: 'Name', cell: (key) => <span className="break-words">{key.name}</span> },
    { key: 'prefix', header: 'Key', cell: (key) => <code className="text-xs">{key.key_prefix}…</code> },
    {
      key: 'used',
      header: 'Last used',
      isDetail: true,
      cell: (key) => (key.last_used_at === null ? 'never' : <Time at={key.last_used_at} isRelative />),
    },
    {
      key: 'expires',
      header: 'Expires',
      isDetail: true,
      cell: (key) => (key.expires_at === null ? 'never' : <Time at={key.expires_at} />),
    },
    {
      key: 'status',
      header: 'Status',
      cell: ({ status }) => <Badge tone={status === 'active' ? 'good' : 'neutral'}>{status}</Badge>,
    },
    {
      key: 'acts',
      header: 'Actions',
      isLead: true,
      isNumber: true,
      cell: (key) =>
        key.status === 'active' && (
          <Button size="sm" reason={reason} onClick={() => setRevoking(key)} aria-label={`Revoke ${key.name}`}>
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <Card title="Application keys" lead="Your server sends one as a bearer token. Each is shown only once." isFlush>
      <form
        className="flex flex-wrap items-start gap-3 border-b border-line p-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) void create();
        }}
      >
        <TextField
          label="Key name"
          required
          maxLength={100}
          value={name}
          onChange={setName}
          error={problemAt(problem, 'name')}
          className="min-w-52 flex-1"
        />
        <TextField
          label="Expires"
          type="datetime-local"
          hint="Never, if left empty."
          value={expiry}
          onChange={setExpiry}
          error={problemAt(problem, 'expires_at')}
        />
        <Button size="row" type="submit" reason={reason}>
          Create key
        </Button>
      </form>
      {problem !== undefined && !FIELDS.some((field) => problemAt(problem, field)) && <ErrorAlert error={problem} />}
      <Loaded query={query}>
        {(keys) =>
          keys.length === 0 ? (
            <EmptyState title="No keys yet">Without a key, no server can call.</EmptyState>
          ) : (
            <Table caption="Application keys" columns={columns} rows={keys} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      <SecretDialog title="New application key" secret={secret} onClose={() => setSecret(undefined)} />
      <Revocation target={revoking} onClose={() => setRevoking(undefined)} onRevoke={revoke} />
    </Card>
  );
}
