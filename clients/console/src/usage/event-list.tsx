import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, read } from '../api/client';
import { countText, durationText, moneyText } from '../design/amounts.rules';
import { Button } from '../design/button';
import { useDebounced } from '../design/debounced';
import { Checkbox, SelectField, TextField } from '../design/field';
import { Card, EmptyState } from '../design/layout';
import { ListEnd } from '../design/list-end';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { Time } from '../design/time';
import { download } from './download';
import { EventDrawer } from './event-drawer';
import { useLiveInterval } from './live-interval';
import { csvOf } from './periods.rules';
import { STATUSES, StatusBadges, type UsageEvent } from './status-badges';

type Status = UsageEvent['status'];

const PAGE = 50;

/** Recorded calls, the newest first. */
export function EventList({ app }: { readonly app: string }) {
  const client = useQueryClient();
  const [status, setStatus] = useState<(typeof STATUSES)[number]['value']>('any');
  const [user, setUser] = useState('');
  const [model, setModel] = useState('');
  const [isLive, setLive] = useState(false);
  const [opened, setOpened] = useState<UsageEvent>();
  const [columns] = useState(() => columnsOf(setOpened));
  const settledUser = useDebounced(user);
  const settledModel = useDebounced(model);
  const filters = {
    ...(status === 'any' ? {} : { status: status as Status }),
    ...(settledUser === '' ? {} : { user: settledUser }),
    ...(settledModel === '' ? {} : { model: settledModel }),
  };
  const queryKey = ['app', app, 'events', filters];
  const pages = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/v1/admin/apps/{app}/events', {
          params: {
            path: { app },
            query: { limit: PAGE, ...filters, ...(pageParam === undefined ? {} : { before_id: pageParam }) },
          },
        }),
      ),
    getNextPageParam: ({ next_before_id: next }) => next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const isOld = pages.isPlaceholderData || settledUser !== user || settledModel !== model;
  const events = pages.data?.pages.flatMap((page) => page.events) ?? [];
  const newestId = events[0]?.id;
  const tick = useLiveInterval(isLive, newestId);
  useEffect(() => {
    if (tick === 0) return;
    // Only the newest page is followed; asking for all that were loaded again would take longer with each of them.
    client.setQueryData<InfiniteData<unknown>>(queryKey, (loaded) => loaded && firstPageOf(loaded));
    void client.invalidateQueries({ queryKey });
  }, [tick]);
  return (
    <>
      <Card
        title="Calls"
        lead="Every call, including refused ones. Open one for its tokens, prices and attempts."
        isFlush
        actions={
          <Button
            reason={events.length === 0 || isOld ? 'There is nothing to export.' : undefined}
            onClick={() => exportOf(app, events)}
          >
            Export CSV
          </Button>
        }
      >
        <div className="flex flex-wrap items-end gap-3 border-b border-line p-3">
          <SelectField label="Status" value={status} options={STATUSES} onChange={setStatus} />
          <TextField label="User" value={user} onChange={setUser} />
          <TextField label="Model" value={model} onChange={setModel} />
          <Checkbox label="Live" hint="Pauses while the tab is hidden." checked={isLive} onChange={setLive} />
        </div>
        <Loaded query={pages} rows={8} isOld={isOld}>
          {() =>
            events.length === 0 ? (
              <EmptyState title="No calls yet">Use “Try it” on the overview to send the first one.</EmptyState>
            ) : (
              <Table
                caption="Calls of the application"
                columns={columns}
                rows={events}
                rowKey={({ id }) => String(id)}
              />
            )
          }
        </Loaded>
      </Card>
      <ListEnd pages={pages} />
      <EventDrawer event={opened} onClose={() => setOpened(undefined)} />
    </>
  );
}

function firstPageOf<Page>({ pages, pageParams }: InfiniteData<Page>): InfiniteData<Page> {
  return { pages: pages.slice(0, 1), pageParams: pageParams.slice(0, 1) };
}

function columnsOf(open: (event: UsageEvent) => void): readonly Column<UsageEvent>[] {
  return [
    { key: 'at', header: 'Time', cell: ({ created_at: at }) => <Time at={at} /> },
    { key: 'status', header: 'Status', cell: (event) => <StatusBadges event={event} /> },
    {
      key: 'model',
      header: 'Model',
      cell: ({ model, provider_slug: slug, provider }) => (
        <span className="block max-w-56">
          <span className="block truncate">{model}</span>
          <span className="block truncate text-xs text-muted">{slug ?? provider}</span>
        </span>
      ),
    },
    {
      key: 'tokens',
      header: 'Tokens',
      isNumber: true,
      isDetail: true,
      cell: (event) => `${countText(event.input_tokens)} / ${countText(event.output_tokens)}`,
    },
    {
      key: 'latency',
      header: 'Took',
      isNumber: true,
      isDetail: true,
      cell: ({ latency_ms: ms }) => (ms === null ? '—' : durationText(ms)),
    },
    { key: 'cost', header: 'Cost', isLead: true, isNumber: true, cell: ({ cost_usd: cost }) => moneyText(cost) },
    {
      key: 'open',
      header: 'Details',
      isLead: true,
      isNumber: true,
      cell: (event) => (
        <Button size="sm" look="ghost" aria-label={`Details of call ${event.id}`} onClick={() => open(event)}>
          Details
        </Button>
      ),
    },
  ];
}

function exportOf(app: string, events: readonly UsageEvent[]): void {
  const header = [
    ...['id', 'created_at', 'status', 'user_id', 'provider', 'model', 'endpoint', 'input_tokens', 'output_tokens'],
    ...['cost_usd', 'estimated_cost_usd', 'cost_source', 'latency_ms', 'app_version'],
  ];
  const rows = events.map((event) => [
    ...[event.id, event.created_at, event.status, event.user_id, event.provider_slug ?? event.provider, event.model],
    ...[event.endpoint_slug, event.input_tokens, event.output_tokens, event.cost_usd, event.estimated_cost_usd],
    ...[event.cost_source, event.latency_ms, event.app_version],
  ]);
  download(`${app}-calls.csv`, csvOf(header, rows));
}
