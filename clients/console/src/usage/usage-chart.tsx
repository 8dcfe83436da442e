import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { moneyText, moneyTickText, shortCountText } from '../design/amounts.rules';
import type { ChartDay, Measure } from './periods.rules';

/** Distinct in light and dark, and for people who tell colours apart badly. */
const COLORS = ['#4c6ef5', '#e8890c', '#12a594', '#d6409f', '#8e8c99', '#a18072', '#30a46c', '#6e56cf'] as const;

/** Usage by day, one colour a provider. A day whose largest part hides the others can be told apart by the table. */
export function UsageChart({
  days,
  series,
  measure,
}: {
  readonly days: readonly ChartDay[];
  readonly series: readonly string[];
  readonly measure: Measure;
}) {
  const text = (value: unknown) => (measure === 'cost' ? moneyText(Number(value)) : shortCountText(Number(value)));
  return (
    <>
      <div className="h-72" aria-hidden>
        <ResponsiveContainer width="100%" height="100%">
          <BarChart accessibilityLayer={false} data={[...days]} margin={{ top: 8, right: 8, bottom: 0, left: 8 }}>
            <CartesianGrid vertical={false} stroke="var(--color-line)" />
            <XAxis
              dataKey="date"
              tickFormatter={(date: string) => date.slice(5)}
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
            <Tooltip
              formatter={text}
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
                dataKey={name}
                stackId="day"
                fill={COLORS[index % COLORS.length] ?? COLORS[0]}
                isAnimationActive={false}
              />
            ))}
          </BarChart>
        </ResponsiveContainer>
      </div>
      <ul className="mt-3 flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted">
        {series.map((name, index) => (
          <li key={name} className="flex items-center gap-1.5">
            <svg width="10" height="10" aria-hidden>
              <title>{name}</title>
              <rect width="10" height="10" rx="2" fill={COLORS[index % COLORS.length]} />
            </svg>
            {name}
          </li>
        ))}
      </ul>
    </>
  );
}
