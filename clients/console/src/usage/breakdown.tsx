import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read, type Schemas } from '../api/client';
import { countText, moneyText, shareText, shortCountText } from '../design/amounts.rules';
import { Button } from '../design/button';
import { SelectField } from '../design/field';
import { Card, EmptyState } from '../design/layout';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { download } from './download';
import { csvOf, type Measure, measureOf } from './periods.rules';

type Share = Schemas['UsageShareResponse'];

const DIMENSIONS = [
  { value: 'model', label: 'Model' },
  { value: 'provider', label: 'Provider type' },
  { value: 'provider_slug', label: 'Provider' },
  { value: 'provider_gateway', label: 'Upstream gateway' },
  { value: 'credential_source', label: 'Credential' },
  { value: 'model_author', label: 'Model author' },
  { value: 'user', label: 'User' },
  { value: 'status', label: 'Status' },
  { value: 'cost_source', label: 'Source of the cost' },
  { value: 'route', label: 'Route' },
  { value: 'endpoint', label: 'Endpoint' },
  { value: 'app_version', label: 'App version' },
] as const;

/** The usage of a period by one dimension, the largest part first. */
export function Breakdown({
  app,
  measure,
  period,
}: {
  readonly app: string;
  readonly measure: Measure;
  readonly period: { readonly from: string; readonly to: string };
}) {
  const [by, setBy] = useState<(typeof DIMENSIONS)[number]['value']>('model');
  const query = useQuery({
    queryKey: ['app', app, 'breakdown', by, period],
    queryFn: () =>
      read(api.GET('/v1/admin/apps/{app}/usage/breakdown', { params: { path: { app }, query: { by, ...period } } })),
    placeholderData: keepPreviousData,
  });
  const rows = [...(query.data?.rows ?? [])].sort((a, b) => measureOf(b, measure) - measureOf(a, measure));
  const total = rows.reduce((sum, row) => sum + measureOf(row, measure), 0);
  const label = DIMENSIONS.find(({ value }) => value === by)?.label ?? by;
  const save = () =>
    download(
      `${app}-by-${by}.csv`,
      csvOf(
        [label, 'requests', 'input_tokens', 'output_tokens', 'cost_usd', 'estimated_cost_usd', 'errors', 'blocked'],
        rows.map((row) => [
          ...[row.key, row.requests, row.input_tokens, row.output_tokens, row.cost_usd],
          ...[row.estimated_cost_usd, row.errors, row.blocked],
        ]),
      ),
    );
  return (
    <Card
      title="Breakdown"
      isFlush
      actions={
        <span className="flex items-end gap-2">
          <SelectField label="Break down by" isLabelHidden value={by} options={DIMENSIONS} onChange={setBy} />
          <Button
            reason={rows.length === 0 || query.isPlaceholderData ? 'There is nothing to export.' : undefined}
            onClick={save}
          >
            Export CSV
          </Button>
        </span>
      }
    >
      <Loaded query={query}>
        {() =>
          rows.length === 0 ? (
            <EmptyState title="No usage">Nothing was recorded here.</EmptyState>
          ) : (
            <Table
              caption={`Usage by ${label.toLowerCase()}`}
              columns={columnsOf(label, total, measure)}
              rows={rows}
              rowKey={({ key }) => key ?? ''}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

function columnsOf(label: string, total: number, measure: Measure): readonly Column<Share>[] {
  return [
    { key: 'key', header: label, cell: ({ key }) => <span className="block max-w-80 truncate">{key ?? 'none'}</span> },
    {
      key: 'share',
      header: 'Share',
      isNumber: true,
      cell: (row) => shareText(measureOf(row, measure), total),
    },
    { key: 'requests', header: 'Requests', isNumber: true, cell: ({ requests }) => countText(requests) },
    {
      key: 'tokens',
      header: 'Tokens',
      isNumber: true,
      isDetail: true,
      cell: (row) => shortCountText(row.input_tokens + row.output_tokens),
    },
    {
      key: 'errors',
      header: 'Errors',
      isNumber: true,
      isDetail: true,
      cell: ({ errors, blocked }) => countText(errors + blocked),
    },
    { key: 'cost', header: 'Cost', isLead: true, isNumber: true, cell: ({ cost_usd: cost }) => moneyText(cost) },
  ];
}
