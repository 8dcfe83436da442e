import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { messageOf } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { moneyText } from '../design/amounts.rules';
import { Button } from '../design/button';
import { useDebounced } from '../design/debounced';
import { Checkbox, SelectField } from '../design/field';
import { Alert, Card, EmptyState } from '../design/layout';
import { ListEnd } from '../design/list-end';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { Time } from '../design/time';
import { AppFilter, CallFilter } from './call-filter';
import { download } from './download';
import { EventDrawer } from './event-drawer';
import { useLiveInterval } from './live-interval';
import { emptyText } from './periods.rules';
import { modelOf, providerOf } from './refusal.rules';
import { REASONS, RefusalWords, STATUSES, StatusBadges, type UsageEvent } from './status-badges';
import { askedOf, type UsageAddress } from './usage-address';

type Page = Schemas['AccountEventsResponse'];

const PAGE = 50;

/** A search without results so far, as a query. */
const SEARCHING = { status: 'pending', fetchStatus: 'fetching', data: undefined } as const;

/** Filters that are typed, in the order of their fields. */
const TYPED = [
  { name: 'user', label: 'User', by: 'user' },
  { name: 'endpoint', label: 'Endpoint', by: 'endpoint' },
  { name: 'model', label: 'Model', by: 'model' },
  { name: 'provider', label: 'Provider', by: 'provider_slug' },
  { name: 'key', label: 'Application key id', by: 'key' },
] as const;

type Typed = Partial<Record<(typeof TYPED)[number]['name'], string>>;

interface CallsProps {
  readonly app: string | undefined;
  /** Only of this one; absent: of the one in the address, if any. */
  readonly user?: string;
  readonly address: UsageAddress;
}

/** Recorded calls of a period, the newest first. */
export function Calls({ app, user, address }: CallsProps) {
  const client = useQueryClient();
  const { search, set, period } = address;
  const [isLive, setLive] = useState(false);
  const [opened, setOpened] = useState<UsageEvent>();
  const [columns] = useState(() => columnsOf(setOpened, app === undefined));
  const [problem, setProblem] = useState<unknown>();
  const status = STATUSES.find(({ value }) => value === search.get('status'))?.value ?? 'any';
  const reason = REASONS.find(({ value }) => value === search.get('reason'))?.value ?? '';
  const ofApp = search.get('app') ?? '';
  const typed = JSON.stringify(typedIn(search));
  const settled = useDebounced(typed);
  const query = {
    ...askedOf(app, address),
    ...(app === undefined && ofApp !== '' ? { app: ofApp } : {}),
    ...(status === 'any' ? {} : { status }),
    ...(reason === '' ? {} : { reason }),
    ...(JSON.parse(settled) as Typed),
    ...(user === undefined ? {} : { user }),
  };
  const isFiltered = status !== 'any' || reason !== '' || typed !== '{}' || ofApp !== '';
  const queryKey = ['usage', 'calls', query];
  const pages = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before }) =>
      read(
        api.GET('/v1/admin/usage/events', {
          params: { query: { limit: PAGE, ...query, ...(before === undefined ? {} : { before }) } },
        }),
      ),
    getNextPageParam: ({ next }: Page) => next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  const isOld = pages.isPlaceholderData || settled !== typed;
  const events = data?.pages.flatMap((page) => page.events) ?? [];
  // A search without results so far continues: one response covers only a part of the period.
  const isSearching = events.length === 0 && hasNextPage && !isOld;
  useEffect(() => {
    if (isSearching && !isFetchingNextPage) void fetchNextPage();
  }, [isSearching, isFetchingNextPage, fetchNextPage]);
  const tick = useLiveInterval(isLive, events[0]?.id);
  useEffect(() => {
    if (tick === 0) return;
    // Only the newest page is refreshed; reading all loaded pages again would take longer with each of them.
    client.setQueryData<InfiniteData<unknown>>(queryKey, (loaded) => loaded && firstPageOf(loaded));
    void client.invalidateQueries({ queryKey });
  }, [tick]);
  const save = async () => {
    setProblem(undefined);
    try {
      download(
        `calls-${period.from}-to-${period.to}.csv`,
        await read(api.GET('/v1/admin/usage/events.csv', { params: { query }, parseAs: 'blob' })),
      );
    } catch (thrown) {
      setProblem(thrown);
    }
  };
  return (
    <>
      <Card
        title="Calls"
        lead="Calls of authenticated callers, refused ones included. Refusals of one caller for the same reason within a minute share a row."
        isFlush
        actions={
          <Button
            reason={events.length === 0 || isOld ? 'There is nothing to export.' : undefined}
            onClick={() => void save()}
          >
            Export CSV
          </Button>
        }
      >
        <div className="flex flex-wrap items-end gap-3 border-b border-line p-3">
          {TYPED.filter(({ name }) => name !== 'user' || user === undefined).map(({ name, label, by }) => (
            <CallFilter
              key={name}
              label={label}
              by={by}
              value={search.get(name) ?? ''}
              onChange={(value) => set({ [name]: value })}
              app={app}
              address={address}
            />
          ))}
          {app === undefined && <AppFilter address={address} />}
          <SelectField
            label="Status"
            value={status}
            options={STATUSES}
            onChange={(value) => set({ status: value === 'any' ? '' : value })}
          />
          <SelectField label="Reason" value={reason} options={REASONS} onChange={(value) => set({ reason: value })} />
          <Checkbox label="Live" hint="Pauses while the tab is hidden." checked={isLive} onChange={setLive} />
        </div>
        {problem !== undefined && <Alert>{messageOf(problem)}</Alert>}
        <Loaded query={isSearching ? { ...pages, ...SEARCHING } : pages} rows={8} isOld={isOld}>
          {() => {
            if (events.length > 0) {
              return <Table caption="Calls" columns={columns} rows={events} rowKey={({ id }) => String(id)} />;
            }
            return (
              <EmptyState title={isFiltered ? 'No such calls in this period' : 'No calls in this period'}>
                {isFiltered ? 'Change a filter or the period.' : emptyText(period, Date.now())}
              </EmptyState>
            );
          }}
        </Loaded>
      </Card>
      <ListEnd pages={pages} />
      <EventDrawer event={opened} onClose={() => setOpened(undefined)} />
    </>
  );
}

/** The typed filters that an address has. */
function typedIn(search: URLSearchParams): Typed {
  return Object.fromEntries(
    TYPED.map(({ name }) => [name, search.get(name) ?? '']).filter(([, value]) => value !== ''),
  );
}

function firstPageOf<P>({ pages, pageParams }: InfiniteData<P>): InfiniteData<P> {
  return { pages: pages.slice(0, 1), pageParams: pageParams.slice(0, 1) };
}

function columnsOf(open: (event: UsageEvent) => void, ofAccount: boolean): readonly Column<UsageEvent>[] {
  return [
    { key: 'at', header: 'Time', cell: ({ created_at: at }) => <Time at={at} /> },
    {
      key: 'status',
      header: 'Status',
      cell: (event) => (
        <span className="block max-w-80">
          <StatusBadges event={event} />
          <RefusalWords event={event} />
        </span>
      ),
    },
    {
      key: 'caller',
      header: 'User, endpoint',
      cell: ({ user_id: user, endpoint_slug: endpoint, app_id: app }) => (
        <span className="block max-w-56">
          <span className="block truncate">{user ?? '—'}</span>
          <span className="block truncate text-xs text-muted">
            {[ofAccount ? app : null, endpoint].filter((part) => part !== null).join(' · ')}
          </span>
        </span>
      ),
    },
    {
      key: 'model',
      header: 'Model',
      isDetail: true,
      cell: (event) => (
        <span className="block max-w-44">
          <span className="block truncate">{modelOf(event) ?? '—'}</span>
          <span className="block truncate text-xs text-muted">{providerOf(event)}</span>
        </span>
      ),
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
