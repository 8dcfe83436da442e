import type { MetricAbout } from '../../platform/metrics/instruments.js';
import { tableRow } from './markdown.rules.js';

const ACROSS = { sum: 'sum', most: 'highest', least: 'lowest' };

/** Renders `docs/metrics.md`, in the order of a scrape. */
export function renderMetrics(metrics: readonly MetricAbout[]): string {
  const rows = metrics.map(({ name, type, labels, help, across = 'sum' }) =>
    tableRow([`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(', '), ACROSS[across], help]),
  );
  return `# Metrics

Every metric of \`GET /metrics\`; [Metrics](monitoring.md#metrics) says who may scrape and what to alert on. Workers: how a
scrape combines the values of the processes that share a port.

Written by \`npm run docs\` from the code; edit the code instead.

${[tableRow(['Metric', 'Type', 'Labels', 'Workers', 'Counts']), tableRow(['---', '---', '---', '---', '---']), ...rows].join('\n')}
`;
}
