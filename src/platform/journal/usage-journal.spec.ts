import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SystemClock } from '../../common/clock.js';
import { Log } from '../../common/log/log.js';
import type { JournalEntry } from './journal-entry.js';
import { type JournalFiles, SYSTEM_FILES } from './journal-files.js';
import type { RecoveredEvent, RecoverySummary } from './journal-recovery.js';
import { UsageJournal, type UsageJournalOptions } from './usage-journal.js';

const DEAD = JSON.stringify({ pid: 2 ** 30, started: 'never' });
const SYNC_MS = 1;
const clock = new SystemClock();

let base: string;
let lines: string[];
let serial = 0;
let open: UsageJournal[];

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'usage-journal-'));
  lines = [];
  open = [];
});

afterEach(async () => {
  for (const journal of open) await journal.close();
  rmSync(base, { recursive: true, force: true });
});

async function start(root: string, more: Partial<UsageJournalOptions> = {}): Promise<UsageJournal> {
  const log = new Log(clock, 'info', (line) => lines.push(line));
  const options = { root, instanceId: `i${++serial}`, syncMs: SYNC_MS, maxPending: 1_000_000, clock, log };
  const journal = new UsageJournal({ ...options, ...more });
  await journal.open();
  open.push(journal);
  return journal;
}

/** What the disk holds when every process of a data directory is killed at this moment. */
function killed(root: string): string {
  const copy = join(base, `killed${++serial}`);
  cpSync(root, copy, { recursive: true });
  for (const name of directoriesIn(copy)) writeFileSync(join(copy, name, 'owner'), DEAD);
  return copy;
}

function directoriesIn(root: string): string[] {
  return readdirSync(root, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

async function recovered(root: string): Promise<{ events: RecoveredEvent[]; summary: RecoverySummary }> {
  const journal = await start(root);
  const events: RecoveredEvent[] = [];
  const summary = await journal.recover(async (batch) => void events.push(...batch));
  return { events, summary };
}

const admitted = (id: string) => JSON.stringify({ event_id: id });
const settled = (id: string) => JSON.stringify({ event_id: id, done: true });
const interruptedEvent = (id: string) => ({ json: admitted(id), interrupted: true });
const settledEvent = (id: string) => ({ json: settled(id), interrupted: false });

describe('usage journal: recovery', () => {
  it('killed after an admission → the event is interrupted', async () => {
    const root = join(base, 'journal');
    (await start(root)).admit(admitted('a'));
    expect((await recovered(killed(root))).events).toEqual([interruptedEvent('a')]);
  });

  it('killed after a settlement → the event is whole, whichever write took it along', async () => {
    const root = join(base, 'journal');
    const journal = await start(root);
    const [first, second] = [journal.admit(admitted('a')), journal.admit(admitted('b'))];
    journal.settle(first, settled('a'));
    expect((await recovered(killed(root))).events).toEqual([interruptedEvent('a'), interruptedEvent('b')]);
    journal.admit(admitted('c'));
    expect((await recovered(killed(root))).events).toEqual(
      ['a'].map(settledEvent).concat(['b', 'c'].map(interruptedEvent)),
    );
    journal.settle(second, settled('b'));
    await tick();
    expect((await recovered(killed(root))).events).toContainEqual(settledEvent('b'));
  });

  it('killed in the middle of a line → the cut line is nothing, the others are whole', async () => {
    const root = join(base, 'journal');
    (await start(root)).admit(admitted('a'));
    const copy = killed(root);
    writeFileSync(segmentOf(copy), `${readFileSync(segmentOf(copy), 'utf8')}S{"event_id":"a","do`);
    const { events, summary } = await recovered(copy);
    expect(events).toEqual([interruptedEvent('a')]);
    expect(summary).toEqual({ files: 1, events: 1, interrupted: 1, damagedLines: 0 });
  });

  it('damaged line → is counted and kept aside, the others are whole', async () => {
    const root = join(base, 'journal');
    (await start(root)).admit(admitted('a'));
    const copy = killed(root);
    writeFileSync(segmentOf(copy), `A{"event_id":\u0000\nnonsense\n${readFileSync(segmentOf(copy), 'utf8')}`);
    const { events, summary } = await recovered(copy);
    expect(events).toEqual([interruptedEvent('a')]);
    expect(summary.damagedLines).toBe(2);
    expect(readFileSync(join(copy, 'rejected.log'), 'utf8')).toBe('A{"event_id":\u0000\nnonsense\n');
  });

  it('journal that was recovered → is gone', async () => {
    const root = join(base, 'journal');
    (await start(root)).admit(admitted('a'));
    const copy = killed(root);
    expect((await recovered(copy)).events).toHaveLength(1);
    expect((await recovered(copy)).events).toEqual([]);
  });

  it('killed while recovering → the next start recovers the same again', async () => {
    const root = join(base, 'journal');
    (await start(root)).admit(admitted('a'));
    const copy = killed(root);
    const journal = await start(copy);
    await expect(journal.recover(() => Promise.reject(new Error('killed')))).rejects.toThrow('killed');
    expect((await recovered(killed(copy))).events).toEqual([interruptedEvent('a')]);
  });

  it('many events → come in batches of at most 500', async () => {
    const root = join(base, 'journal');
    const journal = await start(root);
    for (let number = 0; number < 1_200; number++) journal.admit(admitted(`e${number}`));
    const sizes: number[] = [];
    await (await start(killed(root))).recover(async (batch) => void sizes.push(batch.length));
    expect(sizes).toEqual([500, 500, 200]);
  });

  it('clean stop with everything stored → leaves nothing; with something open → the next start has it', async () => {
    const root = join(base, 'journal');
    const clean = await start(root);
    const entry = clean.admit(admitted('a'));
    clean.settle(entry, settled('a'));
    clean.stored([entry]);
    await clean.close();
    expect(directoriesIn(root)).toEqual([]);
    const unclean = await start(root);
    unclean.settle(unclean.admit(admitted('b')), settled('b'));
    await unclean.close();
    expect((await recovered(root)).events).toEqual([settledEvent('b')]);
  });
});

describe('usage journal: bounds', () => {
  it('too many events wait for Postgres → refuses with 503 until they are stored', async () => {
    const journal = await start(join(base, 'journal'), { maxPending: 2 });
    const entries = ['a', 'b'].map((id) => journal.admit(admitted(id)));
    expect(journal.openAdmissions).toBe(2);
    for (const entry of entries) journal.settle(entry, settled('x'));
    expect([journal.state, journal.pending, journal.openAdmissions]).toEqual(['full', 2, 0]);
    expect(() => journal.admit(admitted('c'))).toThrow(
      expect.objectContaining({ code: 'service_unavailable', reason: 'usage_journal_full', retryAfterSeconds: 1 }),
    );
    journal.stored(entries);
    expect([journal.state, journal.pending]).toEqual(['ok', 0]);
    journal.admit(admitted('c'));
  });

  it('disk that is full → refuses with 503, keeps settlements, and works again at the next try', async () => {
    const root = join(base, 'journal');
    const files = new FullDisk();
    const journal = await start(root, { files });
    const entry = journal.admit(admitted('a'));
    files.full = true;
    journal.settle(entry, settled('a'));
    await tick();
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(() => journal.admit(admitted('b'))).toThrow(
        expect.objectContaining({ code: 'service_unavailable', reason: 'usage_journal_failed', retryAfterSeconds: 1 }),
      );
    }
    expect(journal.state).toBe('failed');
    expect(lines.filter((line) => line.includes('usage_journal_failed'))).toHaveLength(1);
    files.full = false;
    journal.admit(admitted('c'));
    expect(journal.state).toBe('ok');
    expect((await recovered(killed(root))).events).toEqual([settledEvent('a'), interruptedEvent('c')]);
  });

  it('settled twice, stored twice → counts once', async () => {
    const journal = await start(join(base, 'journal'));
    const entry = journal.admit(admitted('a'));
    journal.settle(entry, settled('a'));
    journal.settle(entry, settled('other'));
    expect(journal.pending).toBe(1);
    expect(journal.settledJson(entry)).toBe(settled('a'));
    journal.stored([entry, entry]);
    journal.stored([entry]);
    expect(journal.pending).toBe(0);
  });

  it('more events than memory should hold → are read back from the disk', async () => {
    const journal = await start(join(base, 'journal'));
    const entries = Array.from({ length: 20_010 }, (_, number) => journal.admit(admitted(`ä${number}`)));
    for (const [number, entry] of entries.entries()) {
      journal.settle(entry, settled(`ä${number}`));
      if (number % 1_000 === 999) await tick();
    }
    await tick();
    const waiting = entries.filter((entry) => entry.json === '');
    expect(waiting.length).toBeGreaterThan(0);
    expect(entries.map((entry) => journal.settledJson(entry))).toEqual(
      entries.map((_, number) => settled(`ä${number}`)),
    );
  });

  it('settlement in a file whose admissions are all stored → keeps the file until it is stored too', async () => {
    const root = join(base, 'journal');
    const journal = await start(root, { segmentBytes: 60 });
    const early = journal.admit(admitted('early'));
    const fill = (lines = 3) =>
      Array.from({ length: lines }, (_, number) => journal.admit(admitted(`filler${number}`)));
    fill(2);
    journal.settle(early, settled('early'));
    const sameFile = fill();
    for (const entry of sameFile) journal.settle(entry, settled('filler'));
    await tick();
    journal.stored(sameFile);
    fill();
    await sleep(30 * SYNC_MS);
    expect((await recovered(killed(root))).events).toContainEqual(settledEvent('early'));
  });

  it('request that stays open while many others pass → does not keep their files', async () => {
    const root = join(base, 'journal');
    const journal = await start(root, { segmentBytes: 1_000 });
    journal.admit(admitted('long'));
    for (let number = 0; number < 500; number++) {
      const entry = journal.admit(admitted(`short${number}`));
      journal.settle(entry, settled(`short${number}`));
      journal.stored([entry]);
      if (number % 50 === 0) await sleep(2 * SYNC_MS);
    }
    await sleep(20 * SYNC_MS);
    const [own = ''] = directoriesIn(root);
    expect(readdirSync(join(root, own)).length).toBeLessThan(10);
    expect((await recovered(killed(root))).events).toContainEqual(interruptedEvent('long'));
  });
});

type Step =
  | { readonly do: 'admit' }
  | { readonly do: 'turn' }
  | { readonly do: 'crash' }
  | { readonly do: 'settle' | 'store'; readonly pick: number };

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant({ do: 'admit' as const }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('settle' as const, 'store' as const), pick: fc.nat() }) },
    { weight: 2, arbitrary: fc.constant({ do: 'turn' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'crash' as const }) },
  ),
  { minLength: 1, maxLength: 120 },
);

/** A journal, a store, and what must be true of them. */
class History {
  readonly stored = new Map<string, string>();
  readonly expected = new Map<string, string>();
  private admissions: { id: string; entry: JournalEntry }[] = [];
  private settled: { id: string; entry: JournalEntry }[] = [];
  private ids = 0;

  constructor(
    private root: string,
    private journal: UsageJournal,
  ) {}

  async take(step: Step): Promise<void> {
    if (step.do === 'admit') this.admit();
    else if (step.do === 'turn') await this.turn();
    else if (step.do === 'crash') await this.crash();
    else if (step.do === 'settle') this.settle(step.pick);
    else this.store(step.pick);
  }

  /** Everything the disk holds comes home; nothing is stored twice. */
  async crash(): Promise<void> {
    this.root = killed(this.root);
    this.journal = await start(this.root, { segmentBytes: 300 });
    const seen = new Set<string>();
    const add = (event: RecoveredEvent) => {
      const id: string = JSON.parse(event.json).event_id;
      expect(seen.has(id)).toBe(false);
      seen.add(id);
      if (!this.stored.has(id)) this.stored.set(id, event.json);
    };
    await this.journal.recover(async (batch) => batch.forEach(add));
    this.admissions = [];
    this.settled = [];
    expect(this.stored).toEqual(this.expected);
  }

  private admit(): void {
    const id = `e${this.ids++}`;
    this.admissions.push({ id, entry: this.journal.admit(admitted(id)) });
    this.expected.set(id, admitted(id));
    this.written();
  }

  private settle(pick: number): void {
    const [one] = this.admissions.splice(pick % Math.max(1, this.admissions.length), 1);
    if (one === undefined) return;
    this.journal.settle(one.entry, settled(one.id));
    this.settled.push(one);
  }

  private store(pick: number): void {
    const batch = this.settled.splice(0, pick % (this.settled.length + 1));
    for (const { id, entry } of batch) {
      this.stored.set(id, this.journal.settledJson(entry));
      this.expected.set(id, settled(id));
    }
    this.journal.stored(batch.map(({ entry }) => entry));
  }

  private async turn(): Promise<void> {
    await tick();
    await sleep(4 * SYNC_MS);
    this.written();
  }

  /** From here on a kill does not take the settlements away. */
  private written(): void {
    for (const { id } of this.settled) this.expected.set(id, settled(id));
  }
}

it('usage journal: any history of calls and kills → every admitted request is stored exactly once', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const root = join(base, `history${++serial}`);
      const world = new History(root, await start(root, { segmentBytes: 300 }));
      for (const step of history) await world.take(step);
      await world.crash();
    }),
    { numRuns: 60 },
  );
}, 60_000);

function segmentOf(root: string): string {
  const [directory = ''] = directoriesIn(root);
  return join(root, directory, '00000001.log');
}

/** A disk that takes nothing while it is full. */
class FullDisk implements JournalFiles {
  full = false;
  create = SYSTEM_FILES.create;
  read = SYSTEM_FILES.read;
  sync = SYSTEM_FILES.sync;
  close = SYSTEM_FILES.close;
  remove = SYSTEM_FILES.remove;

  write(descriptor: number, bytes: Buffer): number {
    if (this.full) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    return SYSTEM_FILES.write(descriptor, bytes);
  }
}
