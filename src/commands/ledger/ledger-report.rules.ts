import type { CounterFinding, CounterReport } from './counter-ledger.service.js';
import type { LedgerFinding, LedgerReport } from './usage-ledger.service.js';

type Finding = LedgerFinding | CounterFinding;

/** A human-readable report; ends with a line feed. */
export function renderLedgerReport(sums: LedgerReport, counters: CounterReport): string {
  const findings = [...sums.findings, ...counters.findings];
  const claim =
    `Compared from ${sums.firstDay} on, ${sums.apps} applications. Earlier days are not part of the claim: their ` +
    'events are folded into sums, or about to be. Months count once they lie within whole.';
  const verdict =
    findings.length === 0
      ? 'Every sum is the sum of its events.'
      : `${findings.length} differences: a sum is not the sum of its events.`;
  const unproven = counters.unproven.map((finding) => `${line(finding)} (${UNPROVEN})`);
  return [...findings.map(line), ...unproven, claim, COUNTED_IN[counters.countedIn], verdict, ''].join('\n');
}

/** A machine-readable report: one JSON object. */
export function renderLedgerJson({ firstDay, apps, findings }: LedgerReport, counters: CounterReport): string {
  const differences = [...findings, ...counters.findings].map(named);
  const report = {
    ok: differences.length === 0,
    first_day: firstDay,
    apps,
    requests_counted_in: counters.countedIn,
    differences,
    unproven: counters.unproven.map(named),
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}

const UNPROVEN = 'may be right: an instance was killed, or does not tell how many calls it has open';

const COUNTED_IN = {
  redis: 'Requests of this UTC day are counted in Redis: compared, too.',
  instances:
    'Requests of this UTC day are counted in the memory of the instances, which begin with what is recorded: compared ' +
    'is what they have stored.',
} as const;

function named({ organizationId, appId, ...finding }: Finding) {
  return { organization_id: organizationId, app_id: appId, ...finding };
}

function line({ appId, table, key, column, stored, recomputed }: Finding): string {
  const names = Object.entries(key).map(
    ([name, value]) => `${name}=${value === null ? 'null' : JSON.stringify(value)}`,
  );
  return `${appId} ${table} ${names.join(' ')}: ${column} stored ${stored ?? 'nothing'}, recomputed ${recomputed ?? 'nothing'}`;
}
