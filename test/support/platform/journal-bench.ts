import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '../../../src/common/clock.js';
import { Log } from '../../../src/common/log/log.js';
import type { RecoveredEvent, RecoverySummary } from '../../../src/platform/journal/journal-recovery.js';
import { UsageJournal, type UsageJournalOptions } from '../../../src/platform/journal/usage-journal.js';

/** Above the highest process id of any system, so surely nobody's. */
const DEAD = JSON.stringify({ pid: 2 ** 30, started: 'never' });

export const JOURNAL_SYNC_MS = 1;

/** Journals in a test's own directory, and what remains of them after a kill. */
export class JournalBench {
  readonly root: string;
  /** Log lines of every journal started here. */
  readonly lines: string[] = [];
  private readonly base = mkdtempSync(join(tmpdir(), 'usage-journal-'));
  private readonly clock = new SystemClock();
  private readonly open: UsageJournal[] = [];
  private serial = 0;

  constructor() {
    this.root = this.freshRoot();
  }

  freshRoot(): string {
    return join(this.base, `root${++this.serial}`);
  }

  async start(root = this.root, more: Partial<UsageJournalOptions> = {}): Promise<UsageJournal> {
    const journal = new UsageJournal({
      root,
      instanceId: `i${++this.serial}`,
      syncMs: JOURNAL_SYNC_MS,
      maxPending: 1_000_000,
      clock: this.clock,
      log: new Log(this.clock, 'info', (line) => this.lines.push(line)),
      ...more,
    });
    await journal.open();
    this.open.push(journal);
    return journal;
  }

  /** What the disk holds when every process of a data directory is killed at this moment: another directory. */
  killed(root = this.root): string {
    const copy = this.freshRoot();
    cpSync(root, copy, { recursive: true });
    for (const name of journalsIn(copy)) writeFileSync(join(copy, name, 'owner'), DEAD);
    return copy;
  }

  /** The events that the next process finds there. */
  async recovered(root: string): Promise<{ events: RecoveredEvent[]; summary: RecoverySummary }> {
    const journal = await this.start(root);
    const events: RecoveredEvent[] = [];
    const summary = await journal.recover(async (batch) => void events.push(...batch));
    return { events, summary };
  }

  async end(): Promise<void> {
    for (const journal of this.open) await journal.close();
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** Names of the directories of the processes that use this root. */
export function journalsIn(root: string): string[] {
  return readdirSync(root, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

export const admitted = (id: string) => JSON.stringify({ event_id: id });
export const settled = (id: string) => JSON.stringify({ event_id: id, done: true });
