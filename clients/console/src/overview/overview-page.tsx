import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { api, read, type Schemas } from '../api/client';
import { userPath } from '../apps/user-address';
import { countText, moneyText } from '../design/amounts.rules';
import { Card, EmptyState, PageHeader } from '../design/layout';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { Chart, Summed } from '../usage/charts';
import { lastDays } from '../usage/periods.rules';
import { AttentionCard } from './attention-card';

const DAYS = 30;
const MOST_SHOWN = 5;
/** Rows are ordered by requests; the most expensive are found among these. */
const ROWS = 200;

type Share = Schemas['AccountShareResponse'];

interface Period {
  readonly from: string;
  readonly to: string;
}

/** The account at a glance: what needs attention, and the last thirty days. */
export function OverviewPage() {
  const period = useMemo(() => lastDays(DAYS, Date.now()), []);
  const address = useMemo(
    () => ({
      search: new URLSearchParams(),
      measure: 'cost' as const,
      period: { ...period, choice: String(DAYS), unit: 'day' as const },
    }),
    [period],
  );
  return (
    <>
      <PageHeader title="Overview" lead={`All applications together, in the last ${DAYS} days (UTC).`} />
      <div className="flex flex-col gap-6">
        <AttentionCard />
        <Summed app={undefined} address={address} />
        <Chart app={undefined} address={address} />
        <div className="grid gap-6 lg:grid-cols-2">
          <Top title="Top models" header="Model" by="model" period={period} />
          <Top title="Top users" header="User" by="user" period={period} />
        </div>
      </div>
    </>
  );
}

function Top({ title, header, by, period }: TopProps & { readonly by: 'model' | 'user'; readonly period: Period }) {
  const query = useQuery({
    queryKey: ['usage', 'breakdown', by, period],
    queryFn: () => read(api.GET('/v1/admin/usage/breakdown', { params: { query: { by, limit: ROWS, ...period } } })),
  });
  return (
    <Card title={title} isFlush>
      <Loaded query={query} rows={MOST_SHOWN}>
        {({ rows }) => <TopRows title={title} header={header} rows={rows} />}
      </Loaded>
    </Card>
  );
}

interface TopProps {
  readonly title: string;
  readonly header: string;
}

function TopRows({ title, header, rows }: TopProps & { readonly rows: readonly Share[] }) {
  const top = rows
    .filter(({ key }) => key !== null)
    .sort((one, other) => other.cost_usd - one.cost_usd)
    .slice(0, MOST_SHOWN);
  if (top.length === 0) return <EmptyState title="No usage">Nothing was recorded here.</EmptyState>;
  return (
    <>
      <Table
        caption={`${title} by cost`}
        columns={columnsOf(header)}
        rows={top}
        rowKey={({ key, app_id: app }) => `${app} ${key}`}
      />
      {rows.length === ROWS && (
        <p className="border-t border-line p-3 text-sm text-muted">
          The most expensive of the {ROWS} with the most requests.
        </p>
      )}
    </>
  );
}

/** The calls of a model, in the days of this page. */
function callsOf(model: string): string {
  return `/usage?${new URLSearchParams({ view: 'calls', period: String(DAYS), model })}`;
}

function columnsOf(header: string): readonly Column<Share>[] {
  return [
    {
      key: 'key',
      header,
      cell: ({ key, app_id: app }) =>
        app === null ? (
          <Link href={callsOf(key ?? '')} className="block max-w-48 truncate text-accent hover:underline">
            {key}
          </Link>
        ) : (
          <Link href={userPath(app, key ?? '')} className="group block max-w-48">
            <span className="block truncate font-mono text-xs group-hover:text-accent group-hover:underline">
              {key}
            </span>
            <span className="block truncate text-xs text-muted">{app}</span>
          </Link>
        ),
    },
    { key: 'requests', header: 'Requests', isNumber: true, cell: ({ requests }) => countText(requests) },
    { key: 'cost', header: 'Cost', isNumber: true, cell: ({ cost_usd: cost }) => moneyText(cost) },
  ];
}
