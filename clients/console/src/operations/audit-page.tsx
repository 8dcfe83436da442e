import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { useDebounced } from '../design/debounced';
import { TextField } from '../design/field';
import { Alert, Badge, Card, EmptyState, PageHeader, Skeleton } from '../design/layout';
import { ListEnd } from '../design/list-end';
import { type Column, Table } from '../design/table';
import { Time } from '../design/time';
import { sentenceOf } from './audit-sentence.rules';

type AuditEvent = Schemas['AuditEventResponse'];

const PAGE = 50;

const SOURCES: Readonly<Record<AuditEvent['actor']['action_source'], string>> = {
  web: 'console',
  api: 'API',
  cli: 'terminal',
  mcp: 'AI client',
  system: 'gateway',
};

const COLUMNS: readonly Column<AuditEvent>[] = [
  { key: 'at', header: 'Time', cell: ({ created_at: at }) => <Time at={at} /> },
  {
    key: 'who',
    header: 'Who',
    cell: ({ actor }) => (
      <span className="block max-w-48">
        <span className="block truncate">{actor.name ?? actor.id}</span>
        <Badge>{SOURCES[actor.action_source]}</Badge>
      </span>
    ),
  },
  {
    key: 'what',
    header: 'What',
    cell: (event) => (
      <span className="block max-w-xl">
        <span className="block break-words">{sentenceOf(event)}</span>
        <code className="block truncate text-xs text-muted">{event.target.id}</code>
      </span>
    ),
  },
  {
    key: 'details',
    header: 'Details',
    isDetail: true,
    cell: ({ details }) => (
      <code className="block max-w-64 truncate text-xs text-muted" title={textOf(details)}>
        {textOf(details)}
      </code>
    ),
  },
];

function textOf(details: AuditEvent['details']): string {
  return Object.entries(details ?? {})
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ');
}

export function AuditPage() {
  const [action, setAction] = useState('');
  const [app, setApp] = useState('');
  const [settledAction, settledApp] = [useDebounced(action.trim()), useDebounced(app.trim())];
  const filters = {
    ...(settledAction === '' ? {} : { action: settledAction }),
    ...(settledApp === '' ? {} : { app_id: settledApp }),
  };
  const pages = useInfiniteQuery({
    queryKey: ['audit', filters],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/v1/admin/audit-events', {
          params: { query: { limit: PAGE, ...filters, ...(pageParam === undefined ? {} : { before_id: pageParam }) } },
        }),
      ),
    getNextPageParam: ({ next_before_id: next }) => next ?? undefined,
  });
  const { data, error } = pages;
  const events = data?.pages.flatMap((page) => page.events);
  return (
    <>
      <PageHeader title="Audit trail" lead="Who changed what, when and by which means. Kept for 90 days." />
      <Card isFlush>
        <div className="flex flex-wrap items-end gap-3 border-b border-line p-3">
          <TextField label="Action" placeholder="app.replaced" value={action} onChange={setAction} />
          <TextField label="Application id" value={app} onChange={setApp} />
        </div>
        {error !== null && <Alert>{messageOf(error)}</Alert>}
        {events === undefined && error === null && <Skeleton rows={8} />}
        {events?.length === 0 && <EmptyState title="Nothing was changed">No entry matches.</EmptyState>}
        {events !== undefined && events.length > 0 && (
          <Table caption="Audit trail" columns={COLUMNS} rows={events} rowKey={({ id }) => String(id)} />
        )}
      </Card>
      <ListEnd pages={pages} />
    </>
  );
}
