import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { admitted, JOURNAL_SYNC_MS, JournalBench, settled } from '../../../test/support/platform/journal-bench.js';
import type { JournalEntry } from './journal-entry.js';
import { type EventKind, eventKind } from './journal-lines.rules.js';
import type { RecoveredEvent } from './journal-recovery.js';
import type { UsageJournal } from './usage-journal.js';

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

interface Request {
  readonly id: string;
  readonly entry: JournalEntry;
  /** Of its settlement. */
  readonly kind: EventKind | undefined;
}

/** The line of an event of this kind, and the complete event. */
function textsOf(json: string, kind: EventKind | undefined): { readonly head: string; readonly whole: string } {
  const head = kind === undefined ? json : json.slice(0, -1);
  return { head, whole: head + (kind?.tail ?? '') };
}

/** A journal, a store, and their invariants. */
class History {
  readonly stored = new Map<string, string>();
  readonly expected = new Map<string, string>();
  private admissions: Request[] = [];
  private settled: Request[] = [];
  private ids = 0;
  /** Those of another process have the same numbers. */
  private kinds = kindsOf('first');

  constructor(
    private readonly bench: JournalBench,
    private root: string,
    private journal: UsageJournal,
  ) {}

  /** Waits only where a step needs it: a settlement is written as soon as anything waits. */
  take(step: Step): Promise<void> | undefined {
    if (step.do === 'turn') return this.turn();
    if (step.do === 'crash') return this.crash();
    if (step.do === 'admit') this.admit();
    else if (step.do === 'settle') this.settle(step.pick);
    else this.store(step.pick);
  }

  /** Every event on disk is stored exactly once. */
  async crash(): Promise<void> {
    this.root = this.bench.killed(this.root);
    this.journal = await this.bench.start(this.root, { segmentBytes: 300 });
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
    this.kinds = kindsOf(this.root);
    expect(this.stored).toEqual(this.expected);
  }

  private admit(): void {
    const id = `e${this.ids++}`;
    const [first, last] = [this.kindAt(this.ids), this.kindAt(this.ids >> 1)];
    const { head, whole } = textsOf(admitted(id), first);
    const entry = this.journal.admit(head, first);
    this.admissions.push({ id, entry, kind: last });
    this.expected.set(id, whole);
    this.written();
  }

  private settle(pick: number): void {
    const [one] = this.admissions.splice(pick % Math.max(1, this.admissions.length), 1);
    if (one === undefined) return;
    this.journal.settle(one.entry, textsOf(settled(one.id), one.kind).head, one.kind);
    this.settled.push(one);
  }

  private store(pick: number): void {
    const batch = this.settled.splice(0, pick % (this.settled.length + 1));
    for (const { id, entry, kind } of batch) {
      this.stored.set(id, this.journal.reader([entry]).text(entry));
      this.expected.set(id, textsOf(settled(id), kind).whole);
    }
    this.journal.stored(batch.map(({ entry }) => entry));
  }

  private async turn(): Promise<void> {
    await tick();
    await sleep(4 * JOURNAL_SYNC_MS);
    this.written();
  }

  /** From here on settlements survive a kill. */
  private written(): void {
    for (const { id, kind } of this.settled) this.expected.set(id, textsOf(settled(id), kind).whole);
  }

  /** One of three kinds, or none. */
  private kindAt(number: number): EventKind | undefined {
    return this.kinds[number % (this.kinds.length + 1)];
  }
}

function kindsOf(process: string): readonly EventKind[] {
  return [1, 2, 30].map((number) => eventKind(number, `,"of":"${process} ${number}"}`));
}

let bench: JournalBench;

beforeEach(() => {
  bench = new JournalBench();
});

afterEach(() => bench.end());

it('usage journal: any history of calls and kills → every admitted request is stored exactly once', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const root = bench.freshRoot();
      const world = new History(bench, root, await bench.start(root, { segmentBytes: 300 }));
      for (const step of history) {
        const wait = world.take(step);
        if (wait !== undefined) await wait;
      }
      await world.crash();
    }),
    { numRuns: 60 },
  );
}, 60_000);
