import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { api, read, type Schemas } from '../api/client';
import { useAddress } from '../design/address';
import { useDebounced } from '../design/debounced';
import { TextField } from '../design/field';
import { Badge, Card, EmptyState, PageHeader } from '../design/layout';
import { ListEnd } from '../design/list-end';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { Time } from '../design/time';
import { sentenceOf } from './audit-sentence.rules';

type AuditEvent = Schemas['AuditEventResponse'];

const PAGE = 50;
const FILTERS = { action: '', app: '' };

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
  const [{ action, app }, filter] = useAddress(FILTERS);
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
    placeholderData: keepPreviousData,
  });
  const isTyping = settledAction !== action.trim() || settledApp !== app.trim();
  return (
    <>
      <PageHeader title="Audit trail" lead="Who changed what, when and by which means. Kept for 90 days." />
      <Card isFlush>
        <div className="flex flex-wrap items-end gap-3 border-b border-line p-3">
          <TextField
            label="Action"
            placeholder="app.replaced"
            value={action}
            onChange={(text) => filter({ action: text })}
          />
          <TextField label="Application id" value={app} onChange={(text) => filter({ app: text })} />
        </div>
        <Loaded query={pages} rows={8} isOld={isTyping || pages.isPlaceholderData}>
          {(data) => <Events events={data.pages.flatMap((page) => page.events)} />}
        </Loaded>
      </Card>
      <ListEnd pages={pages} />
    </>
  );
}

function Events({ events }: { readonly events: readonly AuditEvent[] }) {
  if (events.length === 0) return <EmptyState title="Nothing was changed">No entry matches.</EmptyState>;
  return <Table caption="Audit trail" columns={COLUMNS} rows={events} rowKey={({ id }) => String(id)} />;
}
