import type { LedgerFinding, LedgerReport } from './usage-ledger.service.js';

/** A report for people, lines of text; ends with a line feed. */
export function renderLedgerReport(report: LedgerReport): string {
  const claim =
    `Compared from ${report.firstDay} on, ${report.apps} applications. Earlier days are not part of the claim: their ` +
    'events are folded into sums, or about to be. Months count once they lie within whole.';
  const verdict =
    report.findings.length === 0
      ? 'Every sum is the sum of its events.'
      : `${report.findings.length} differences: a sum is not the sum of its events.`;
  return [...report.findings.map(line), claim, verdict, ''].join('\n');
}

/** The same for programs: one JSON object. */
export function renderLedgerJson({ firstDay, apps, findings }: LedgerReport): string {
  const differences = findings.map(({ organizationId, appId, ...finding }) => ({
    organization_id: organizationId,
    app_id: appId,
    ...finding,
  }));
  return `${JSON.stringify({ ok: findings.length === 0, first_day: firstDay, apps, differences }, null, 2)}\n`;
}

function line({ appId, table, key, column, stored, recomputed }: LedgerFinding): string {
  const names = Object.entries(key).map(
    ([name, value]) => `${name}=${value === null ? 'null' : JSON.stringify(value)}`,
  );
  return `${appId} ${table} ${names.join(' ')}: ${column} stored ${stored ?? 'nothing'}, recomputed ${recomputed ?? 'nothing'}`;
}
