import type { Clock } from '../../common/clock.js';
import { firstEventDay } from '../../usage/recording/usage-range.rules.js';
import {
  LEDGER_TABLES,
  type LedgerDifference,
  type LedgerTable,
  type UsageLedgerRepository,
} from './usage-ledger.repository.js';

/** A stored sum that differs from the sum of its events. */
export interface LedgerFinding extends LedgerDifference {
  readonly organizationId: string;
  readonly appId: string;
  readonly table: LedgerTable;
}

/** Result of a check of the sums. */
export interface LedgerReport {
  /** First checked day, UTC, `YYYY-MM-DD`; the events of earlier days are folded or about to be. */
  readonly firstDay: string;
  readonly apps: number;
  readonly findings: readonly LedgerFinding[];
}

/** Recomputes all sums from their events and compares them, also while requests are recorded. */
export class UsageLedger {
  constructor(
    private readonly sums: UsageLedgerRepository,
    private readonly clock: Clock,
  ) {}

  /** Checks every account; takes up to half a minute per million events. */
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
