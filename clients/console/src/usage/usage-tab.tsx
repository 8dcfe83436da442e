import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api, read } from '../api/client';
import { useAppDraft } from '../apps/app-draft';
import { LimitGauges } from '../apps/limit-gauges';
import { SelectField } from '../design/field';
import { Card, EmptyState } from '../design/layout';
import { lazyComponent } from '../design/lazy-component';
import { Loaded } from '../design/loaded';
import { Breakdown } from './breakdown';
import { Corrections } from './corrections';
import { EventList } from './event-list';
import { chartDays, lastDays, type Measure } from './periods.rules';

const UsageChart = lazyComponent(async () => (await import('./usage-chart')).UsageChart, 6);

const PERIODS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
] as const;

const MEASURES = [
  { value: 'cost', label: 'Cost' },
  { value: 'requests', label: 'Requests' },
  { value: 'tokens', label: 'Tokens' },
] as const;

export function UsageTab() {
  const { id } = useAppDraft();
  const [days, setDays] = useState<(typeof PERIODS)[number]['value']>('30');
  const [measure, setMeasure] = useState<Measure>('cost');
  const period = useMemo(() => lastDays(Number(days), Date.now()), [days]);
  return (
    <div className="flex flex-col gap-6">
      <div className="flex flex-wrap gap-3">
        <SelectField label="Period" value={days} options={PERIODS} onChange={setDays} />
        <SelectField label="Measure" value={measure} options={MEASURES} onChange={setMeasure} />
      </div>
      <LimitGauges />
      <Chart app={id} measure={measure} period={period} />
      <Breakdown app={id} measure={measure} period={period} />
      <Corrections app={id} />
      <EventList app={id} />
    </div>
  );
}

function Chart({
  app,
  measure,
  period,
}: {
  readonly app: string;
  readonly measure: Measure;
  readonly period: { readonly from: string; readonly to: string };
}) {
  const query = useQuery({
    queryKey: ['app', app, 'series', period],
    queryFn: () => read(api.GET('/v1/admin/apps/{app}/usage/timeseries', { params: { path: { app }, query: period } })),
    placeholderData: keepPreviousData,
  });
  const { data } = query;
  const chart = useMemo(
    () => data && chartDays(data.buckets, measure, { from: data.from.slice(0, 10), to: data.to.slice(0, 10) }),
    [data, measure],
  );
  return (
    <Card title="By day" lead="UTC days, by provider.">
      <Loaded query={query} rows={6}>
        {() =>
          chart === undefined || chart.series.length === 0 ? (
            <EmptyState title="No usage in this period">Calls appear here within a second of their end.</EmptyState>
          ) : (
            <UsageChart {...chart} measure={measure} />
          )
        }
      </Loaded>
    </Card>
  );
}
