import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { problemAt } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { queries } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { SelectField, TextField } from '../design/field';
import { Badge, Card, EmptyState, ErrorAlert, PageHeader } from '../design/layout';
import { Loaded } from '../design/loaded';
import { Revocation } from '../design/revocation';
import { SecretDialog } from '../design/secret-dialog';
import { type Column, Table } from '../design/table';
import { Day, Time } from '../design/time';
import { useReadOnlyReason } from '../shell/session';
import { AiClientCard } from './ai-client-card';

type ManagementKey = Schemas['ManagementKeyResource'];

const GRANTS = [
  { value: 'manage', label: 'Read and write' },
  { value: 'read', label: 'Read only' },
] as const;

const SOURCES: Readonly<Record<ManagementKey['source'], string>> = {
  console: 'Key',
  cli: 'Terminal',
  bootstrap: 'Bootstrap',
  oauth: 'AI client',
};

export function AccessPage() {
  const query = useQuery(queries.keys());
  const { data: capabilities } = useQuery(queries.capabilities());
  const mcpUrl = capabilities?.mcpUrl;
  const client = useQueryClient();
  const reason = useReadOnlyReason();
  const [name, setName] = useState('');
  const [grant, setGrant] = useState<'read' | 'manage'>('manage');
  const [secret, setSecret] = useState<string>();
  const { run, error: problem } = useSubmit();
  const [revoking, setRevoking] = useState<ManagementKey>();
  const refresh = () => client.invalidateQueries({ queryKey: queries.keys().queryKey });
  const create = () =>
    run(async () => {
      const { key } = await read(api.POST('/v1/admin/keys', { body: { name, grant } }));
      setSecret(key.plaintext);
      setName('');
      await refresh();
    });
  const revoke = async ({ id }: ManagementKey) => {
    await read(api.POST('/v1/admin/keys/{id}/revoke', { params: { path: { id } } }));
    await refresh();
  };
  return (
    <>
      <PageHeader
        title="Access"
        lead="Keys for programs, terminals that logged in, and AI clients with access. None of them can do more than its owner."
      />
      <div className="flex flex-col gap-4">
        {capabilities !== undefined && <AiClientCard address={mcpUrl} />}
        <Card title="Management keys and connections" isFlush>
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
            <SelectField label="Permission" value={grant} options={GRANTS} onChange={setGrant} />
            <Button size="row" look="primary" type="submit" reason={reason}>
              Create
            </Button>
          </form>
          {problem !== undefined && problemAt(problem, 'name') === undefined && <ErrorAlert error={problem} />}
          <Loaded query={query} rows={6}>
            {(keys) =>
              keys.length === 0 ? (
                <EmptyState title="No keys or connections yet">
                  Create a key for a script, or run <code>gw deployment connect --url {location.origin}</code> and{' '}
                  <code>gw account login</code> in a terminal.
                </EmptyState>
              ) : (
                <Table
                  caption="Management keys and connections"
                  columns={columnsOf(setRevoking, reason)}
                  rows={keys}
                  rowKey={({ id }) => id}
                />
              )
            }
          </Loaded>
        </Card>
      </div>
      <SecretDialog title="New management key" secret={secret} onClose={() => setSecret(undefined)} />
      <Revocation target={revoking} onClose={() => setRevoking(undefined)} onRevoke={revoke} />
    </>
  );
}

function columnsOf(revoke: (key: ManagementKey) => void, reason: string | undefined): readonly Column<ManagementKey>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      cell: ({ name, tokenHint, clientId }) => (
        <span className="block max-w-64">
          <span className="block truncate font-medium">{name}</span>
          <span className="block truncate font-mono text-xs text-muted">{clientId ?? `…${tokenHint}`}</span>
        </span>
      ),
    },
    { key: 'source', header: 'Kind', cell: ({ source }) => <Badge>{SOURCES[source]}</Badge> },
    {
      key: 'grant',
      header: 'Permission',
      isDetail: true,
      cell: ({ grant }) => (grant === 'read' ? 'Read only' : 'Read and write'),
    },
    { key: 'made', header: 'Created', isDetail: true, cell: ({ createdAt }) => <Day at={createdAt} /> },
    {
      key: 'used',
      header: 'Last used',
      isDetail: true,
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time at={lastUsedAt} isRelative />),
    },
    {
      key: 'status',
      header: 'Status',
      cell: ({ enabled, revokedAt }) => (
        <Badge tone={enabled ? 'good' : 'neutral'}>
          {enabled ? 'Active' : revokedAt === null ? 'Expired' : 'Revoked'}
        </Badge>
      ),
    },
    {
      key: 'acts',
      header: 'Actions',
      isLead: true,
      isNumber: true,
      cell: (key) =>
        key.enabled && (
          <Button size="sm" reason={reason} aria-label={`Revoke ${key.name}`} onClick={() => revoke(key)}>
            Revoke
          </Button>
        ),
    },
  ];
}
