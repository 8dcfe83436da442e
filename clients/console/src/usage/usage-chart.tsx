import { Bar, BarChart, CartesianGrid, ReferenceArea, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { moneyText, moneyTickText, shortCountText } from '../design/amounts.rules';
import type { Chart, Measure } from './periods.rules';

/** Distinct in light and dark mode, and for colour-blind people. */
const COLORS = ['#4c6ef5', '#e8890c', '#12a594', '#d6409f', '#8e8c99', '#a18072', '#30a46c', '#6e56cf'] as const;

/** Usage by day or hour, one colour a series. The table shows values that bars hide. */
export function UsageChart({ chart, measure }: { readonly chart: Chart; readonly measure: Measure }) {
  const { points, series, unfinished } = chart;
  const text = (value: unknown) => (measure === 'cost' ? moneyText(Number(value)) : shortCountText(Number(value)));
  return (
    <>
      <div className="h-72" aria-hidden>
        <ResponsiveContainer width="100%" height="100%">
          <BarChart accessibilityLayer={false} data={[...points]} margin={{ top: 8, right: 8, bottom: 0, left: 8 }}>
            <CartesianGrid vertical={false} stroke="var(--color-line)" />
            <XAxis
              dataKey="start"
              tickFormatter={shortStart}
              stroke="var(--color-muted)"
              fontSize={12}
              tickLine={false}
              minTickGap={16}
            />
            <YAxis
              tickFormatter={measure === 'cost' ? moneyTickText : shortCountText}
              allowDecimals={measure === 'cost'}
              stroke="var(--color-muted)"
              fontSize={12}
              tickLine={false}
              axisLine={false}
              width={72}
            />
            {unfinished !== undefined && (
              <ReferenceArea x1={unfinished} x2={unfinished} fill="var(--color-muted)" fillOpacity={0.18} />
            )}
            <Tooltip
              formatter={text}
              labelFormatter={(start) => longStart(String(start), unfinished)}
              cursor={{ fill: 'var(--color-hover)' }}
              contentStyle={{
                background: 'var(--color-surface)',
                border: '1px solid var(--color-line)',
                borderRadius: 6,
              }}
              labelStyle={{ color: 'var(--color-ink)' }}
              itemStyle={{ color: 'var(--color-ink)' }}
            />
            {series.map((name, index) => (
              <Bar
                key={name}
                dataKey={(point: Chart['points'][number]) => point[name]}
                name={name}
                stackId="all"
                fill={COLORS[index % COLORS.length] ?? COLORS[0]}
                isAnimationActive={false}
              />
            ))}
          </BarChart>
        </ResponsiveContainer>
      </div>
      <ul className="mt-3 flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted">
        {series.map((name, index) => (
          <li key={name} className="flex min-w-0 items-center gap-1.5">
            <svg width="10" height="10" className="shrink-0" aria-hidden>
              <title>{name}</title>
              <rect width="10" height="10" rx="2" fill={COLORS[index % COLORS.length]} />
            </svg>
            <span className="truncate">{name}</span>
          </li>
        ))}
        {unfinished !== undefined && <li>Shaded: {longStart(unfinished, undefined)} has not ended.</li>}
      </ul>
    </>
  );
}

/** `01-31`, or `13:00` of an hour. */
function shortStart(start: string): string {
  return start.length > 'YYYY-MM-DD'.length ? start.slice(11, 16) : start.slice('YYYY-'.length);
}

function longStart(start: string, unfinished: string | undefined): string {
  const whole = start.length > 'YYYY-MM-DD'.length ? `${start.slice(0, 10)} ${start.slice(11, 16)} UTC` : start;
  return start === unfinished ? `${whole}, not ended` : whole;
}
