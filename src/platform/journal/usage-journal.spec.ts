import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import {
  admitted,
  JOURNAL_SYNC_MS,
  JournalBench,
  journalsIn,
  settled,
} from '../../../test/support/platform/journal-bench.js';
import type { JournalEntry } from './journal-entry.js';
import { type JournalFiles, SYSTEM_FILES } from './journal-files.js';
import { eventKind } from './journal-lines.rules.js';
import type { SettledReader } from './settled-reader.js';

let bench: JournalBench;

beforeEach(() => {
  bench = new JournalBench();
});

afterEach(() => bench.end());

const interruptedEvent = (id: string) => ({ json: admitted(id), interrupted: true });
const settledEvent = (id: string) => ({ json: settled(id), interrupted: false });

function headOf(reader: SettledReader, entry: JournalEntry): string {
  const head = Buffer.alloc(reader.headLength(entry));
  reader.copyHead(entry, head, 0);
  return head.toString();
}

describe('usage journal: recovery', () => {
  it('killed after an admission → the event is interrupted', async () => {
    (await bench.start()).admit(admitted('a'));
    expect((await bench.recovered(bench.killed())).events).toEqual([interruptedEvent('a')]);
  });

  it('killed after a settlement → the event is complete, whichever write contained it', async () => {
    const journal = await bench.start();
    const [first, second] = [journal.admit(admitted('a')), journal.admit(admitted('b'))];
    journal.settle(first, settled('a'));
    expect((await bench.recovered(bench.killed())).events).toEqual([interruptedEvent('a'), interruptedEvent('b')]);
    journal.admit(admitted('c'));
    expect((await bench.recovered(bench.killed())).events).toEqual(
      ['a'].map(settledEvent).concat(['b', 'c'].map(interruptedEvent)),
    );
    journal.settle(second, settled('b'));
    await tick();
    expect((await bench.recovered(bench.killed())).events).toContainEqual(settledEvent('b'));
  });

  it('admission written again → after a kill, the event has the second text; after settlement, there is one event', async () => {
    const journal = await bench.start();
    const entry = journal.admit(admitted('a'));
    const again = JSON.stringify({ event_id: 'a', target: 'second' });
    journal.readmit(entry, again);
    expect((await bench.recovered(bench.killed())).events).toEqual([{ json: again, interrupted: true }]);
    expect(journal.openAdmissions).toBe(1);
    journal.settle(entry, settled('a'));
    journal.readmit(entry, again);
    await tick();
    expect((await bench.recovered(bench.killed())).events).toEqual([settledEvent('a')]);
    journal.stored([entry]);
    expect([journal.pending, journal.openAdmissions]).toEqual([0, 0]);
  });

  it('killed in the middle of a line → the partial line is ignored, the others are complete', async () => {
    (await bench.start()).admit(admitted('a'));
    const copy = bench.killed();
    writeFileSync(segmentOf(copy), `${readFileSync(segmentOf(copy), 'utf8')}S{"event_id":"a","do`);
    const { events, summary } = await bench.recovered(copy);
    expect(events).toEqual([interruptedEvent('a')]);
    expect(summary).toEqual({ files: 1, events: 1, interrupted: 1, damagedLines: 0 });
  });

  it('damaged line → counted and set aside, the others are complete', async () => {
    (await bench.start()).admit(admitted('a'));
    const copy = bench.killed();
    writeFileSync(segmentOf(copy), `A{"event_id":\u0000\nnonsense\n${readFileSync(segmentOf(copy), 'utf8')}`);
    const { events, summary } = await bench.recovered(copy);
    expect(events).toEqual([interruptedEvent('a')]);
    expect(summary.damagedLines).toBe(2);
    expect(readFileSync(join(copy, 'rejected.log'), 'utf8')).toBe('A{"event_id":\u0000\nnonsense\n');
  });

  it('journal that was recovered → deleted', async () => {
    (await bench.start()).admit(admitted('a'));
    const copy = bench.killed();
    expect((await bench.recovered(copy)).events).toHaveLength(1);
    expect((await bench.recovered(copy)).events).toEqual([]);
  });

  it('killed while recovering → the next start recovers the same events again', async () => {
    (await bench.start()).admit(admitted('a'));
    const copy = bench.killed();
    const journal = await bench.start(copy);
    await expect(journal.recover(() => Promise.reject(new Error('killed')))).rejects.toThrow('killed');
    expect((await bench.recovered(bench.killed(copy))).events).toEqual([interruptedEvent('a')]);
  });

  it('journal of an earlier version, whose lines refer to kinds → its events are complete', async () => {
    (await bench.start()).admit(admitted('of this version'));
    const copy = bench.killed();
    const kinds = 'K{"kind":1,"app_id":"ä"}\nK{"kind":22,"app_id":"b","route":"direct"}\n';
    const events = 'A{"event_id":"a","kind":1}\nA{"event_id":"b","kind":22}\nS{"event_id":"a","done":true,"kind":22}\n';
    writeFileSync(segmentOf(copy), kinds + events);
    writeFileSync(segmentOf(copy).replace('1.log', '2.log'), 'A{"event_id":"c","kind":1}\n');
    const found = await bench.recovered(copy);
    expect(found.events).toEqual([
      { json: '{"event_id":"a","done":true,"app_id":"b","route":"direct"}', interrupted: false },
      { json: '{"event_id":"b","app_id":"b","route":"direct"}', interrupted: true },
      { json: '{"event_id":"c","app_id":"ä"}', interrupted: true },
    ]);
    expect(found.summary.damagedLines).toBe(0);
  });

  it('many events → come in batches of at most 500', async () => {
    const journal = await bench.start();
    for (let number = 0; number < 1_200; number++) journal.admit(admitted(`e${number}`));
    const sizes: number[] = [];
    await (await bench.start(bench.killed())).recover(async (batch) => void sizes.push(batch.length));
    expect(sizes).toEqual([500, 500, 200]);
  });

  it('clean stop with everything stored → leaves no file; with an open request → the next start recovers it', async () => {
    const clean = await bench.start();
    const entry = clean.admit(admitted('a'));
    clean.settle(entry, settled('a'));
    clean.stored([entry]);
    await clean.close();
    expect(journalsIn(bench.root)).toEqual([]);
    const unclean = await bench.start();
    unclean.settle(unclean.admit(admitted('b')), settled('b'));
    await unclean.close();
    expect((await bench.recovered(bench.root)).events).toEqual([settledEvent('b')]);
  });
});

describe('usage journal: bounds', () => {
  it('too many events wait for Postgres → refuses with 503 until they are stored', async () => {
    const journal = await bench.start(bench.root, { maxPending: 2 });
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

  it('disk that is full → refuses with 503, keeps settlements, and works again at the next attempt', async () => {
    const files = new FullDisk();
    const journal = await bench.start(bench.root, { files });
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
    expect(bench.lines.filter((line) => line.includes('usage_journal_failed'))).toHaveLength(1);
    files.full = false;
    journal.admit(admitted('c'));
    expect(journal.state).toBe('ok');
    expect((await bench.recovered(bench.killed())).events).toEqual([settledEvent('a'), interruptedEvent('c')]);
  });

  it('settled twice, stored twice → counts once', async () => {
    const journal = await bench.start();
    const entry = journal.admit(admitted('a'));
    journal.settle(entry, settled('a'));
    journal.settle(entry, settled('other'));
    expect(journal.pending).toBe(1);
    expect(journal.reader([entry]).text(entry)).toBe(settled('a'));
    journal.stored([entry, entry]);
    journal.stored([entry]);
    expect(journal.pending).toBe(0);
  });

  it('more events than memory may hold → read back from the disk', async () => {
    const journal = await bench.start();
    const entries = Array.from({ length: 20_010 }, (_, number) => journal.admit(admitted(`ä${number}`)));
    const kind = eventKind(1, ',"app_id":"ö"}');
    for (const [number, entry] of entries.entries()) {
      journal.settle(entry, settled(`ä${number}`).slice(0, -1), kind);
      if (number % 1_000 === 999) await tick();
    }
    await tick();
    const waiting = entries.filter(({ block }) => block === undefined);
    expect(waiting.length).toBeGreaterThan(0);
    const reader = journal.reader(entries);
    const heads = entries.map((_, number) => settled(`ä${number}`).slice(0, -1));
    expect(entries.map((entry) => headOf(reader, entry))).toEqual(heads);
    expect(entries.map((entry) => reader.text(entry))).toEqual(heads.map((head) => head + kind.tail));
  });

  it('events whose memory is reused → read back from the disk', async () => {
    const files = new FullDisk();
    const journal = await bench.start(bench.root, { files });
    const entries = Array.from({ length: 20_010 }, (_, number) => journal.admit(admitted(`e${number}`)));
    files.full = true;
    for (const [number, entry] of entries.entries()) journal.settle(entry, settled(`e${number}`));
    const reader = journal.reader(entries);
    files.full = false;
    for (let number = 0; number < 30_000; number++) journal.admit(admitted(`later${number}`));
    expect(entries.filter(({ block }) => block === undefined).length).toBeGreaterThan(0);
    const texts = entries.map((_, number) => settled(`e${number}`));
    expect(entries.map((entry) => reader.text(entry))).toEqual(texts);
    expect(entries.map((entry) => headOf(reader, entry))).toEqual(texts);
  });

  it('events of a kind → each line is complete JSON, so that no line depends on a deleted file', async () => {
    const journal = await bench.start(bench.root, { segmentBytes: 500 });
    const kind = eventKind(3, `,"app_id":"${'x'.repeat(50)}"}`);
    for (let number = 0; number < 20; number++) journal.admit(admitted(`e${number}`).slice(0, -1), kind);
    const first = { event_id: 'e0', app_id: 'x'.repeat(50) };
    expect(readFileSync(segmentOf(bench.root), 'utf8').split('\n')[0]).toBe(`A${JSON.stringify(first)}`);
    const copy = bench.killed();
    rmSync(segmentOf(copy));
    const { events, summary } = await bench.recovered(copy);
    expect([events.length, summary.damagedLines]).toEqual([20 - eventsIn(segmentOf(bench.root)), 0]);
    for (const { json } of events) expect(JSON.parse(json).app_id).toBe('x'.repeat(50));
  });

  it('settlement in a file whose admissions are all stored → keeps the file until it is stored too', async () => {
    const journal = await bench.start(bench.root, { segmentBytes: 60 });
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
    await sleep(30 * JOURNAL_SYNC_MS);
    expect((await bench.recovered(bench.killed())).events).toContainEqual(settledEvent('early'));
  });

  it('requests that stay open while many others complete → do not keep the files in which they began', async () => {
    const journal = await bench.start(bench.root, { segmentBytes: 1_000 });
    const [first, second] = [1, 22].map((number) => eventKind(number, `,"kind_of":"ä${number}"}`));
    const long = (number: number) => admitted(`long${number}`).slice(0, -1);
    for (let number = 0; number < 500; number++) {
      if (number % 25 === 0) journal.readmit(journal.admit(long(number), first), long(number), second);
      const entry = journal.admit(admitted(`short${number}`));
      journal.settle(entry, settled(`short${number}`));
      journal.stored([entry]);
      if (number % 50 === 0) await sleep(2 * JOURNAL_SYNC_MS);
    }
    const [own = ''] = journalsIn(bench.root);
    await eventually(() => readdirSync(join(bench.root, own)).length < 10, { withinMs: 10_000 });
    const { events } = await bench.recovered(bench.killed());
    for (let number = 0; number < 500; number += 25)
      expect(events).toContainEqual({ json: `${long(number)}${second?.tail}`, interrupted: true });
  });
});

function segmentOf(root: string): string {
  const [directory = ''] = journalsIn(root);
  return join(root, directory, '00000001.log');
}

function eventsIn(file: string): number {
  return readFileSync(file, 'utf8').match(/event_id/g)?.length ?? 0;
}

/** A disk that accepts no writes while it is full. */
class FullDisk implements JournalFiles {
  full = false;
  create = SYSTEM_FILES.create;
  read = SYSTEM_FILES.read;
  sync = SYSTEM_FILES.sync;
  syncDirectory = SYSTEM_FILES.syncDirectory;
  close = SYSTEM_FILES.close;
  remove = SYSTEM_FILES.remove;

  write(descriptor: number, bytes: Buffer): number {
    if (this.full) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    return SYSTEM_FILES.write(descriptor, bytes);
  }
}
