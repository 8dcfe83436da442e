import type { Clock } from '../common/clock.js';
import { firstEventDay } from '../usage/usage-range.rules.js';
import {
  LEDGER_TABLES,
  type LedgerDifference,
  type LedgerTable,
  type UsageLedgerRepository,
} from './usage-ledger.repository.js';

/** Something that is not the sum of its events. */
export interface LedgerFinding extends LedgerDifference {
  readonly organizationId: string;
  readonly appId: string;
  readonly table: LedgerTable;
}

/** What a check found. */
export interface LedgerReport {
  /** UTC, `YYYY-MM-DD`; earlier days are folded, or about to be, and nothing is claimed about them. */
  readonly firstDay: string;
  readonly apps: number;
  readonly findings: readonly LedgerFinding[];
}

/**
 * Sums all events up anew and compares: money that adds up can be proven at any time, also while requests are recorded.
 */
export class UsageLedger {
  constructor(
    private readonly sums: UsageLedgerRepository,
    private readonly clock: Clock,
  ) {}

  /** Of every account; takes up to half a minute for a million events. */
  async verify(): Promise<LedgerReport> {
    const firstDay = firstEventDay(this.clock.utcDay());
    const apps = await this.sums.listApps();
    const findings: LedgerFinding[] = [];
    for (const app of apps) {
      for (const table of LEDGER_TABLES) {
        const differences = await this.sums.listDifferences(app, table, firstDay);
        const where = { organizationId: app.organizationId, appId: app.id, table };
        for (const difference of differences) findings.push({ ...where, ...difference });
      }
    }
    return { firstDay, apps: apps.length, findings };
  }
}
