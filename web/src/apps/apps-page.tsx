import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { messageOf } from '../api/api-error';
import { type AppSummary, queries } from '../api/queries';
import { countText, moneyText, shareText } from '../design/amounts.rules';
import { Button, ButtonLink } from '../design/button';
import { SelectField, TextField } from '../design/field';
import { Alert, Badge, Card, EmptyState, PageHeader, Skeleton } from '../design/layout';
import { type Column, type Sorting, Table } from '../design/table';
import { useReadOnlyReason } from '../shell/session';
import { MonthFigures, sumOf } from './app-figures';

const SHOWN_AT_ONCE = 100;

const STATUSES = [
  { value: 'any', label: 'Any status' },
  { value: 'active', label: 'Active' },
  { value: 'disabled', label: 'Disabled' },
] as const;

const TYPES: Readonly<Record<AppSummary['authentication_type'], string>> = {
  device_app_attest: 'Mobile',
  api_key: 'Server',
  invalid: 'Unreadable',
};

/** What each column is sorted by. */
const SORT_KEYS: Readonly<Record<string, (app: AppSummary) => number | string>> = {
  name: ({ name }) => name.toLowerCase(),
  cost: ({ usage }) => usage.cost_usd,
  requests: ({ usage }) => usage.requests,
  users: ({ users }) => users.total,
  errors: ({ usage }) => usage.errors + usage.blocked,
};

export function AppsPage() {
  const { data, error } = useQuery(queries.apps());
  const reason = useReadOnlyReason();
  const [, navigate] = useLocation();
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
      {error !== null && <Alert>{messageOf(error)}</Alert>}
      {data === undefined ? error === null && <Skeleton rows={10} /> : <AppList apps={data.apps} />}
    </>
  );
}

function AppList({ apps }: { readonly apps: readonly AppSummary[] }) {
  const total = useMemo(() => sumOf(apps.map(({ usage }) => usage)), [apps]);
  const [search, setSearch] = useState('');
  const [status, setStatus] = useState<(typeof STATUSES)[number]['value']>('any');
  const [sorting, setSorting] = useState<Sorting>({ key: 'cost', isDescending: true });
  const [limit, setLimit] = useState(SHOWN_AT_ONCE);
  const needle = useDeferredValue(search.trim().toLowerCase());
  const found = useMemo(() => {
    const keyOf = SORT_KEYS[sorting.key] ?? (() => 0);
    const matches = apps.filter(
      (app) =>
        (status === 'any' || app.status === status) &&
        (needle === '' || `${app.name} ${app.id} ${app.apple_bundle_id ?? ''}`.toLowerCase().includes(needle)),
    );
    return matches.sort((a, b) => {
      const [first, second] = sorting.isDescending ? [keyOf(b), keyOf(a)] : [keyOf(a), keyOf(b)];
      return first < second ? -1 : first > second ? 1 : a.id.localeCompare(b.id);
    });
  }, [apps, needle, status, sorting]);
  if (apps.length === 0) {
    return (
      <Card>
        <EmptyState
          title="No application yet"
          actions={
            <ButtonLink to="/start" look="primary">
              Guided start
            </ButtonLink>
          }
        >
          An application is what calls AI providers through this gateway: an iOS app that proves its device, or a server
          with a key. Each has its own rules, limits and usage.
        </EmptyState>
      </Card>
    );
  }
  return (
    <>
      <MonthFigures usage={total} />
      <Card isFlush>
        <div className="flex flex-wrap items-end gap-3 border-b border-line p-3">
          <TextField
            label="Search applications"
            isLabelHidden
            placeholder="Name, id or bundle"
            type="search"
            value={search}
            onChange={setSearch}
            className="min-w-52 flex-1"
          />
          <SelectField label="Status" isLabelHidden value={status} options={STATUSES} onChange={setStatus} />
        </div>
        {found.length === 0 ? (
          <EmptyState title="Nothing found">No application matches this search and status.</EmptyState>
        ) : (
          <Table
            caption="Applications with the usage of this month"
            columns={columnsOf(total.cost_usd)}
            rows={found.slice(0, limit)}
            rowKey={({ id }) => id}
            sorting={sorting}
            onSort={setSorting}
          />
        )}
      </Card>
      {found.length > limit && (
        <div className="mt-4 flex items-center justify-center gap-3 text-sm text-muted">
          {countText(limit)} of {countText(found.length)}
          <Button onClick={() => setLimit(limit + SHOWN_AT_ONCE)}>Show more</Button>
        </div>
      )}
    </>
  );
}

function columnsOf(totalCostUsd: number): readonly Column<AppSummary>[] {
  return [
    {
      key: 'name',
      header: 'Application',
      isSortable: true,
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
      isSortable: true,
      cell: ({ users }) => countText(users.total),
    },
    {
      key: 'requests',
      header: 'Requests',
      isNumber: true,
      isDetail: true,
      isSortable: true,
      cell: ({ usage }) => countText(usage.requests),
    },
    {
      key: 'errors',
      header: 'Errors',
      isNumber: true,
      isDetail: true,
      isSortable: true,
      cell: ({ usage }) => countText(usage.errors + usage.blocked),
    },
    {
      key: 'cost',
      header: 'Cost',
      isNumber: true,
      isSortable: true,
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
  const share = totalCostUsd === 0 ? 0 : usage.cost_usd / totalCostUsd;
  return (
    <span className="inline-flex flex-col items-end gap-1">
      <span className="font-medium">{moneyText(usage.cost_usd)}</span>
      <span className="h-1 w-20 overflow-hidden rounded-full bg-line" aria-hidden>
        <svg viewBox="0 0 100 1" preserveAspectRatio="none" className="h-full w-full">
          <title>Share of the cost</title>
          <rect width={share * 100} height="1" className="fill-accent" />
        </svg>
      </span>
      <span className="text-xs text-muted">
        {budget === null ? `${shareText(usage.cost_usd, totalCostUsd)} of all` : `of ${moneyText(budget)}`}
      </span>
    </span>
  );
}
