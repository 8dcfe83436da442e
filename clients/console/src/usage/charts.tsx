import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, read, type Schemas } from '../api/client';
import { countedText, countText, durationText, moneyText, shareText, shortCountText } from '../design/amounts.rules';
import { Card, EmptyState, Figure, Figures } from '../design/layout';
import { lazyComponent } from '../design/lazy-component';
import { Loaded } from '../design/loaded';
import { Breakdown, DIMENSIONS } from './breakdown';
import { MEASURES, measureText } from './measures';
import { changeText, chartOf, emptyText, errorRateOf, tokensOf } from './periods.rules';
import { askedOf, type UsageAddress } from './usage-address';

const UsageChart = lazyComponent(async () => (await import('./usage-chart')).UsageChart, 6);

type Summary = Schemas['AccountUsageResponse'];
type Time = Schemas['LatencyResponse'];

interface ChartsProps {
  readonly app: string | undefined;
  readonly address: UsageAddress;
}

interface ShownProps {
  readonly app: string | undefined;
  readonly address: Pick<UsageAddress, 'search' | 'period' | 'measure'>;
}

/** Figures of a period compared with the previous one, a chart, and its breakdown. */
export function Charts({ app, address }: ChartsProps) {
  return (
    <>
      <Summed app={app} address={address} />
      <Chart app={app} address={address} />
      <Breakdown app={app} address={address} />
    </>
  );
}

/** Figures of a period compared with the previous one. */
export function Summed({ app, address }: ShownProps) {
  const query = askedOf(app, address);
  const asked = useQuery({
    queryKey: ['usage', 'summary', query],
    queryFn: () => read(api.GET('/v1/admin/usage', { params: { query } })),
    placeholderData: keepPreviousData,
  });
  return (
    <section aria-label="Totals of the period">
      <Loaded query={asked} rows={2}>
        {(summary) => <Totals summary={summary} />}
      </Loaded>
    </section>
  );
}

function Totals({ summary }: { readonly summary: Summary }) {
  const { from, to } = summary.previous;
  return (
    <div>
      <Figures>
        {figuresOf(summary).map(({ label, value, now, before, detail }) => (
          <Figure
            key={label}
            label={label}
            value={value}
            note={[detail, now === undefined || before === undefined ? undefined : changeText(now, before)]
              .filter(Boolean)
              .join(' · ')}
          />
        ))}
      </Figures>
      <p className="-mt-3 text-sm text-muted">Changes compared with {from === to ? from : `${from} to ${to}`}.</p>
    </div>
  );
}

interface Told {
  readonly label: string;
  readonly value: string;
  readonly now: number | undefined;
  readonly before: number | undefined;
  readonly detail?: string | undefined;
}

function figuresOf(now: Summary): readonly Told[] {
  const before = now.previous;
  const [rate, rateBefore] = [errorRateOf(now), errorRateOf(before)];
  return [
    {
      label: 'Cost',
      value: moneyText(now.cost_usd),
      ...{ now: now.cost_usd, before: before.cost_usd },
      detail: now.estimated_cost_usd === 0 ? undefined : `and ${moneyText(now.estimated_cost_usd)} estimated`,
    },
    { label: 'Requests', value: countText(now.requests), ...{ now: now.requests, before: before.requests } },
    { label: 'Tokens', value: shortCountText(tokensOf(now)), ...{ now: tokensOf(now), before: tokensOf(before) } },
    {
      label: 'Error rate',
      value: rate === undefined ? '—' : shareText(rate, 1),
      ...{ now: rate, before: rateBefore },
      detail: countedText(now.errors, 'provider error'),
    },
    { label: 'Refused', value: countText(now.blocked), ...{ now: now.blocked, before: before.blocked } },
    timeOf('Time to first byte, median', now.latency, before.latency),
    timeOf('Duration of complete answers, median', now.duration, before.duration),
  ];
}

function timeOf(label: string, now: Time, before: Time): Told {
  const { p50_ms: median, p95_ms: slow } = now;
  return {
    label,
    value: median === null ? '—' : durationText(median),
    ...{ now: median ?? undefined, before: before.p50_ms ?? undefined },
    detail: slow === null ? undefined : `95% within ${durationText(slow)}`,
  };
}

/** What a chart can be split by; a breakdown by another dimension leaves it split by provider type. */
const SPLITS = ['provider', 'model', 'app', 'status'] as const;

/** Usage by day or hour. */
export function Chart({ app, address }: ShownProps) {
  const { period, measure, search } = address;
  const by = SPLITS.find((split) => split === search.get('by')) ?? 'provider';
  const query = { ...askedOf(app, address), by, unit: period.unit };
  const asked = useQuery({
    queryKey: ['usage', 'series', query],
    queryFn: () => read(api.GET('/v1/admin/usage/timeseries', { params: { query } })),
    placeholderData: keepPreviousData,
  });
  const { data } = asked;
  const chart = useMemo(
    () => data && chartOf(data.buckets, measure, { ...period, ...unitOf(data) }, Date.now()),
    [data, measure, period],
  );
  const label = MEASURES.find(({ value }) => value === measure)?.label ?? measure;
  const split = DIMENSIONS.find(({ value }) => value === by)?.label.toLowerCase();
  return (
    <Card
      title={`${label} by ${data?.unit ?? period.unit}, by ${split}`}
      lead={chart && `Total ${measureText(measure)(chart.total)}. Times are UTC.`}
    >
      <Loaded query={asked} rows={6}>
        {() =>
          chart === undefined || chart.series.length === 0 ? (
            <EmptyState title="Nothing in this period">{emptyText(period, Date.now())}</EmptyState>
          ) : (
            <UsageChart chart={chart} measure={measure} />
          )
        }
      </Loaded>
    </Card>
  );
}

/** The response may still be that of the previous period. */
function unitOf({ from, to, unit }: Schemas['AccountTimeseriesResponse']) {
  return { from, to, unit };
}
