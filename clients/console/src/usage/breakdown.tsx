import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { messageOf } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { queries } from '../api/queries';
import { countText, moneyText, shareText, shortCountText } from '../design/amounts.rules';
import { Button } from '../design/button';
import { SelectField } from '../design/field';
import { Alert, Card, EmptyState } from '../design/layout';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { noteOf, timesText } from './breakdown.rules';
import { breakdownQuery, type Dimension } from './breakdown-query';
import { download } from './download';
import { measureName } from './measures';
import { measureOf, tokensOf } from './periods.rules';
import { askedOf, type UsageAddress } from './usage-address';

type Share = Schemas['AccountShareResponse'];

export const DIMENSIONS = [
  { value: 'model', label: 'Model' },
  { value: 'app', label: 'Application' },
  { value: 'provider', label: 'Provider type' },
  { value: 'provider_slug', label: 'Provider' },
  { value: 'provider_gateway', label: 'Upstream gateway' },
  { value: 'credential_source', label: 'Credential' },
  { value: 'model_author', label: 'Model author' },
  { value: 'user', label: 'User' },
  { value: 'key', label: 'Application key' },
  { value: 'status', label: 'Status' },
  { value: 'cost_source', label: 'Cost source' },
  { value: 'route', label: 'Route' },
  { value: 'endpoint', label: 'Endpoint' },
  { value: 'app_version', label: 'App version' },
] as const satisfies readonly { readonly value: Dimension; readonly label: string }[];

/** Dimensions that calls can be filtered by, with the filter. */
const FILTERS: Partial<Readonly<Record<Dimension, string>>> = {
  ...{ model: 'model', provider: 'provider', provider_slug: 'provider', user: 'user', key: 'key' },
  ...{ status: 'status', endpoint: 'endpoint' },
};

/** The usage of a period by one dimension, the largest part first. */
export function Breakdown({ app, address }: { readonly app: string | undefined; readonly address: UsageAddress }) {
  const { measure, search, set, period } = address;
  const dimensions = useDimensions(app);
  const { value: by, label } = dimensions.find(({ value }) => value === search.get('by')) ?? DIMENSIONS[0];
  const query = { ...askedOf(app, address), by };
  const asked = useQuery({
    ...breakdownQuery(query),
    placeholderData: keepPreviousData,
  });
  const { data } = asked;
  const [problem, setProblem] = useState<unknown>();
  const rows = [...(data?.rows ?? [])].sort((a, b) => measureOf(b, measure) - measureOf(a, measure));
  const save = async () => {
    setProblem(undefined);
    try {
      const file = await read(api.GET('/v1/admin/usage/breakdown.csv', { params: { query }, parseAs: 'blob' }));
      download(`usage-by-${by}-${period.from}-to-${period.to}.csv`, file);
    } catch (thrown) {
      setProblem(thrown);
    }
  };
  return (
    <Card
      title={`By ${label.toLowerCase()}`}
      lead={data && noteOf(data, measure)}
      isFlush
      actions={
        <span className="flex flex-wrap items-end gap-2">
          <SelectField
            label="Break down by"
            isLabelHidden
            value={by}
            options={dimensions}
            onChange={(value) => set({ by: value })}
          />
          <Button
            reason={rows.length === 0 || asked.isPlaceholderData ? 'There is nothing to export.' : undefined}
            onClick={() => void save()}
          >
            Export CSV
          </Button>
        </span>
      }
    >
      {problem !== undefined && <Alert>{messageOf(problem)}</Alert>}
      <Loaded query={asked}>
        {(shown) =>
          rows.length === 0 ? (
            <EmptyState title="No usage">Nothing was recorded here.</EmptyState>
          ) : (
            <Table
              caption={`Usage by ${label.toLowerCase()}`}
              columns={columnsOf({ by: shown.by, label, app, address, total: measureOf(shown.total, measure) })}
              rows={rows}
              rowKey={({ key, app_id: owner }) => `${owner} ${key}`}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

/** Groups and calls of one application; the application itself only if there are several. */
function useDimensions(app: string | undefined): readonly { readonly value: Dimension; readonly label: string }[] {
  const { data } = useQuery({ ...queries.app(app ?? ''), enabled: app !== undefined });
  if (app === undefined) return DIMENSIONS;
  // One that cannot be read has no groups.
  const config: Partial<Schemas['AppConfig']> = data?.app.config ?? {};
  const groups = Object.keys(config.limits?.groups ?? {});
  return [
    ...DIMENSIONS.filter(({ value }) => value !== 'app'),
    ...groups.map((name) => ({ value: `group:${name}`, label: `Group: ${name}` })),
  ];
}

interface Shown {
  readonly by: Dimension;
  readonly label: string;
  readonly app: string | undefined;
  readonly address: UsageAddress;
  readonly total: number;
}

function columnsOf(shown: Shown): readonly Column<Share>[] {
  const { label, address, total } = shown;
  const { measure } = address;
  return [
    { key: 'key', header: label, cell: (row) => <Key row={row} {...shown} /> },
    {
      key: 'share',
      header: `Share of ${measureName(measure)}`,
      isNumber: true,
      cell: (row) => <ShareBar part={measureOf(row, measure)} total={total} />,
    },
    { key: 'requests', header: 'Requests', isNumber: true, cell: ({ requests }) => countText(requests) },
    { key: 'tokens', header: 'Tokens', isNumber: true, isDetail: true, cell: (row) => shortCountText(tokensOf(row)) },
    { key: 'errors', header: 'Errors', isNumber: true, isDetail: true, cell: ({ errors }) => countText(errors) },
    { key: 'refused', header: 'Refused', isNumber: true, isDetail: true, cell: ({ blocked }) => countText(blocked) },
    {
      key: 'latency',
      header: 'First byte',
      isNumber: true,
      isDetail: true,
      cell: ({ latency }) => timesText(latency),
    },
    {
      key: 'duration',
      header: 'Whole answer',
      isNumber: true,
      isDetail: true,
      cell: ({ duration }) => timesText(duration),
    },
    { key: 'cost', header: 'Cost', isLead: true, isNumber: true, cell: ({ cost_usd: cost }) => moneyText(cost) },
  ];
}

/** Leads to what it names: an application to its usage, the others to their calls. */
function Key({ row, by, app, address }: Shown & { readonly row: Share }) {
  const { key, app_id: owner } = row;
  const filter = FILTERS[by];
  const name = key ?? 'none';
  const period = Object.fromEntries(['period', 'from', 'to'].map((part) => [part, address.search.get(part) ?? '']));
  const others = { by: '', measure: '' };
  return (
    <span className="block max-w-80">
      <span className="block truncate">
        {by === 'app' && key !== null ? (
          <Link
            href={`/apps/${key}/usage${address.to({ ...period, ...others })}`}
            className="text-accent hover:underline"
          >
            {name}
          </Link>
        ) : filter !== undefined && key !== null ? (
          <Link
            href={address.to({ ...period, ...others, view: 'calls', [filter]: key })}
            className="text-accent hover:underline"
          >
            {name}
          </Link>
        ) : (
          name
        )}
      </span>
      {app === undefined && owner !== null && <span className="block truncate text-xs text-muted">{owner}</span>}
    </span>
  );
}

function ShareBar({ part, total }: { readonly part: number; readonly total: number }) {
  return (
    <span className="inline-flex items-center justify-end gap-2">
      <svg
        viewBox="0 0 100 4"
        preserveAspectRatio="none"
        className="h-2 w-16 overflow-hidden rounded-full bg-line card:hidden"
        aria-hidden
      >
        <title>Share</title>
        <rect width={total === 0 ? 0 : (part / total) * 100} height="4" className="fill-accent" />
      </svg>
      <span className="min-w-10">{shareText(part, total)}</span>
    </span>
  );
}
