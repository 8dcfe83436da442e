import type { components } from '../../console/src/api/schema.d.ts';
import { type Api, given, read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import { appIdOf } from '../apps/apps.js';
import type { Action } from '../program/command.js';
import { usd } from '../terminal/amounts.rules.js';
import { facts, table } from '../terminal/table.js';

type Totals = components['schemas']['UsageTotalsResponse'];
type Share = components['schemas']['AccountShareResponse'];
type Dimension = components['schemas']['AccountBreakdownResponse']['by'];

const SHORT_MONTHS = new Set([4, 6, 9, 11]);
const CHART_ROWS = 8;
const CHART_COLUMNS = 60;
const COLUMNS = ['REQUESTS', 'INPUT', 'CACHED', 'OUTPUT', 'COST', 'ESTIMATED', 'ERRORS', 'BLOCKED'];
/** Medians and 95th percentiles, in milliseconds. */
const TIMES = ['FIRST BYTE P50/P95', 'WHOLE P50/P95'];

/** `gw usage show` */
export const show: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const [app, month] = [gw.text('app'), gw.text('month')];
  const query = month === undefined ? {} : { month };
  if (app !== undefined) return ofApp(api, await appIdOf(api, app), query);
  const result = await read(api.GET('/v1/cli/usage', { params: { query } }));
  const rows = result.apps.map((one) => [one.deleted ? `${one.appId} (removed)` : one.appId, ...measures(one)]);
  const first = result.coverage.firstRecord ?? 'none yet';
  const shown = [...rows, ['all', ...measures(result.totals)]];
  const text = table(['APPLICATION', ...COLUMNS], shown, gw.terminal.columns);
  return { result, text: `${result.month}, UTC; first record: ${first}\n\n${text}` };
};

async function ofApp(api: Api, app: string, query: { readonly month?: string }): ReturnType<Action> {
  const result = await read(api.GET('/v1/admin/apps/{app}/usage', { params: { path: { app }, query } }));
  const days = daysOf(result.month);
  const { buckets } = await read(
    api.GET('/v1/admin/apps/{app}/usage/timeseries', { params: { path: { app }, query: days } }),
  );
  const text = facts({
    ...{ Application: app, Month: result.month, Requests: result.requests },
    ...{ 'Input tokens': result.input_tokens, 'Cached input tokens': result.cached_input_tokens },
    ...{ 'Output tokens': result.output_tokens, Cost: usd(result.cost_usd), Estimated: usd(result.estimated_cost_usd) },
  });
  return { result, text: `${text}\n\n${await chartOf(days, buckets)}` };
}

/** `gw usage breakdown` */
export const breakdown: Action = async (gw) => {
  const limit = gw.integer('limit', { min: 1, max: 200 });
  const { api } = await sessionOf(gw);
  const [from, to] = [gw.text('from'), gw.text('to')];
  const by = gw.text('by') ?? 'model';
  const named = gw.text('app');
  const app = named === undefined ? undefined : await appIdOf(api, named);
  const query = { ...given({ app, from, to, limit }), by: by as Dimension };
  const result = await read(api.GET('/v1/admin/usage/breakdown', { params: { query } }));
  const hasTimes = result.rows.some(({ latency }) => latency !== null);
  const rows = result.rows.map((row) => [row.key ?? '-', ...measures(row), ...(hasTimes ? times(row) : [])]);
  const text =
    rows.length === 0
      ? 'No usage in these days. Follow calls: gw logs'
      : table([by.toUpperCase(), ...COLUMNS, ...(hasTimes ? TIMES : [])], rows, gw.terminal.columns);
  return { result, text: `${result.from} to ${result.to}, UTC\n\n${text}` };
};

function measures(totals: Totals): (string | number)[] {
  const { requests, input_tokens, cached_input_tokens, output_tokens, cost_usd, estimated_cost_usd, errors, blocked } =
    totals;
  return [
    requests,
    input_tokens,
    cached_input_tokens,
    output_tokens,
    usd(cost_usd),
    usd(estimated_cost_usd),
    errors,
    blocked,
  ];
}

/** Times to the first and the last byte. */
function times({ latency, duration }: Share): string[] {
  return [latency, duration].map((time) => (time?.p50_ms == null ? '-' : `${time.p50_ms}/${time.p95_ms} ms`));
}

interface Days {
  readonly from: string;
  readonly to: string;
}

/** The days of a month. @param month YYYY-MM. */
function daysOf(month: string): Days {
  const [year = 0, number = 0] = month.split('-').map(Number);
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const last = number === 2 ? (isLeapYear ? 29 : 28) : SHORT_MONTHS.has(number) ? 30 : 31;
  return { from: `${month}-01`, to: `${month}-${last}` };
}

/** The cost of each day as a line. */
async function chartOf(
  { from, to }: Days,
  buckets: readonly { readonly date: string; readonly cost_usd: number }[],
): Promise<string> {
  const { default: asciichart } = await import('asciichart');
  const days = Number(to.slice(-2));
  const costs = Array.from({ length: days }, (_, day) => {
    const date = `${from.slice(0, -2)}${String(day + 1).padStart(2, '0')}`;
    return buckets.filter((bucket) => bucket.date === date).reduce((sum, bucket) => sum + bucket.cost_usd, 0);
  });
  const spread = costs.flatMap((cost) => Array.from({ length: Math.floor(CHART_COLUMNS / days) || 1 }, () => cost));
  const format = (value: number) => usd(value).padStart(12);
  return `Cost per day, ${from} to ${to}, UTC\n\n${asciichart.plot(spread, { height: CHART_ROWS, format })}`;
}
