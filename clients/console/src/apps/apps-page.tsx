import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link, useLocation } from 'wouter';
import { APPS_AT_ONCE, type AppFilter, type AppSummary, DEAREST_APPS, queries } from '../api/queries';
import { useAddress, valuesOf } from '../design/address';
import { countText, moneyText, shareText } from '../design/amounts.rules';
import { Button, ButtonLink } from '../design/button';
import { useDebounced } from '../design/debounced';
import { SelectField, TextField } from '../design/field';
import { Badge, Card, EmptyState, PageHeader } from '../design/layout';
import { ListEnd } from '../design/list-end';
import { Loaded } from '../design/loaded';
import { type Column, type Sorting, Table } from '../design/table';
import { useReadOnlyReason } from '../shell/session';
import { MonthFigures } from './app-figures';
import { barWidth, shareOf } from './cost-share.rules';

type AppOrder = (typeof SORTS)[number];

const STATUSES = [
  { value: 'any', label: 'Any status' },
  { value: 'active', label: 'Active' },
  { value: 'disabled', label: 'Disabled' },
] as const;

const SORTS = [DEAREST_APPS.sort, 'name', 'users', 'requests', 'errors'] as const;
const ORDERS = [DEAREST_APPS.order, 'asc'] as const;
const FILTERS = { query: '', status: valuesOf(STATUSES), sort: SORTS, order: ORDERS };

const TYPES: Readonly<Record<AppSummary['authentication_type'], string>> = {
  device_app_attest: 'Mobile',
  device_proofs: 'Mobile',
  api_key: 'Server',
  invalid: 'Unreadable',
};

/** The account's first applications by cost, then those that were searched for. */
export function AppsPage() {
  const reason = useReadOnlyReason();
  const [, navigate] = useLocation();
  const [{ query: search, status, sort, order }, change] = useAddress(FILTERS);
  const sorting: Sorting<AppOrder> = { key: sort, isDescending: order === 'desc' };
  const query = useDebounced(search).trim();
  const filter: AppFilter = {
    ...{ sort, order },
    ...(query === '' ? {} : { query }),
    ...(status === 'any' ? {} : { status }),
  };
  const pages = useInfiniteQuery({
    ...queries.appPages(filter),
    placeholderData: keepPreviousData,
  });
  const isOld = pages.isPlaceholderData || query !== search.trim();
  const isFiltered = search !== '' || status !== 'any';
  const first = pages.data?.pages[0];
  const totalCostUsd = first?.usage.cost_usd ?? 0;
  const columns = useMemo(() => columnsOf(totalCostUsd), [totalCostUsd]);
  return (
    <>
      <PageHeader
        title="Applications"
        lead="What each of your mobile and server applications calls, and what it costs this month (UTC)."
        actions={
          <Button look="primary" reason={reason} onClick={() => navigate('/apps/new')}>
            New application
          </Button>
        }
      />
      {first?.total === 0 && !isFiltered && !isOld ? (
        <NoApps />
      ) : (
        <>
          {first !== undefined && <MonthFigures usage={first.usage} />}
          <Card isFlush>
            <div className="flex flex-wrap items-end gap-3 border-b border-line p-3">
              <TextField
                label="Search applications"
                isLabelHidden
                placeholder="Name, id or bundle"
                type="search"
                value={search}
                onChange={(text) => change({ query: text })}
                className="min-w-52 flex-1"
              />
              <SelectField
                label="Status"
                isLabelHidden
                value={status}
                options={STATUSES}
                onChange={(value) => change({ status: value })}
              />
            </div>
            <Loaded query={pages} rows={10} isOld={isOld}>
              {({ pages: loaded }) =>
                loaded[0]?.total === 0 ? (
                  <EmptyState title="No results">No application matches this search and status.</EmptyState>
                ) : (
                  <Table
                    caption="Applications with the usage of this month"
                    columns={columns}
                    rows={loaded.flatMap(({ apps }) => apps)}
                    rowKey={({ id }) => id}
                    sorting={sorting}
                    onSort={({ key, isDescending }) => change({ sort: key, order: isDescending ? 'desc' : 'asc' })}
                  />
                )
              }
            </Loaded>
          </Card>
          {pages.data !== undefined && first !== undefined && (
            <ListEnd
              pages={pages}
              note={`${countText(pages.data.pages.length * APPS_AT_ONCE)} of ${countText(first.total)}`}
            />
          )}
        </>
      )}
    </>
  );
}

function NoApps() {
  return (
    <Card>
      <EmptyState
        title="No applications yet"
        actions={
          <ButtonLink to="/start" look="primary">
            Guided start
          </ButtonLink>
        }
      >
        An application is what calls AI providers through this gateway: a mobile app whose devices prove themselves, or
        a server with a key. Each has its own rules, limits and usage.
      </EmptyState>
    </Card>
  );
}

function columnsOf(totalCostUsd: number): readonly Column<AppSummary, AppOrder>[] {
  return [
    {
      key: 'name',
      header: 'Application',
      sortKey: 'name',
      cell: ({ id, name }) => (
        <Link href={`/apps/${id}/overview`} className="group block max-w-44 md:max-w-72">
          <span className="block truncate font-medium group-hover:text-accent group-hover:underline">{name}</span>
          <span className="block truncate font-mono text-xs text-muted">{id}</span>
        </Link>
      ),
    },
    {
      key: 'type',
      header: 'Type',
      isDetail: true,
      cell: ({ authentication_type: type, status }) => (
        <span className="flex gap-1.5">
          <Badge tone={type === 'invalid' ? 'bad' : 'neutral'}>{TYPES[type]}</Badge>
          {status === 'disabled' && <Badge tone="warn">Disabled</Badge>}
        </span>
      ),
    },
    {
      key: 'users',
      header: 'Users',
      isNumber: true,
      isDetail: true,
      sortKey: 'users',
      cell: ({ users }) => countText(users.total),
    },
    {
      key: 'requests',
      header: 'Requests',
      isNumber: true,
      isDetail: true,
      sortKey: 'requests',
      cell: ({ usage }) => countText(usage.requests),
    },
    {
      key: 'errors',
      header: 'Errors, refused',
      isNumber: true,
      isDetail: true,
      // Sorts by both together.
      sortKey: 'errors',
      cell: ({ usage }) => `${countText(usage.errors)}, ${countText(usage.blocked)}`,
    },
    {
      key: 'cost',
      header: 'Cost',
      isLead: true,
      isNumber: true,
      sortKey: 'cost',
      cell: (app) => <Cost app={app} totalCostUsd={totalCostUsd} />,
    },
  ];
}

function Cost({
  app: { usage, monthly_budget_usd: budget },
  totalCostUsd,
}: {
  readonly app: AppSummary;
  readonly totalCostUsd: number;
}) {
  const { part, all, label } = shareOf(usage, budget, totalCostUsd);
  return (
    <span className="inline-flex flex-col items-end gap-1">
      <span className="font-medium">{moneyText(usage.cost_usd)}</span>
      <span className="h-1 w-20 overflow-hidden rounded-full bg-line" aria-hidden>
        <svg viewBox="0 0 100 1" preserveAspectRatio="none" className="h-full w-full">
          <title>{label}</title>
          <rect width={barWidth(part, all)} height="1" className={part > all ? 'fill-bad' : 'fill-accent'} />
        </svg>
      </span>
      <span className="text-xs text-muted">
        {shareText(part, all)} {label}
      </span>
    </span>
  );
}
