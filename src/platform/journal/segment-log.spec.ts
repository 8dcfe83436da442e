import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { type JournalFiles, SYSTEM_FILES } from './journal-files.js';
import { SEGMENT_MAX_BYTES, SegmentLog } from './segment-log.js';

const SYNC_MS = 5;
const MEGABYTE = `${'x'.repeat(1024 * 1024 - 1)}\n`;

/** Real files on a disk that can be full and that counts syncs. */
class FragileFiles implements JournalFiles {
  /** Bytes left on the disk. */
  free = Number.POSITIVE_INFINITY;
  syncFails = false;
  syncs = 0;
  create = SYSTEM_FILES.create;
  read = SYSTEM_FILES.read;
  close = SYSTEM_FILES.close;
  /** Directory syncs. */
  listings = 0;
  /** When set, syncs wait here until the test completes them. */
  held: (() => void)[] | undefined;

  /** Syncs and deletions that the disk has not completed. */
  underWay = 0;

  syncDirectory(listed: string, done: (error: Error | null) => void): void {
    this.listings++;
    SYSTEM_FILES.syncDirectory(listed, this.counted(done));
  }

  remove(file: string, done: (error: Error | null) => void): void {
    SYSTEM_FILES.remove(file, this.counted(done));
  }

  write(descriptor: number, bytes: Buffer): number {
    const taken = bytes.subarray(0, this.free);
    this.free -= taken.length;
    return SYSTEM_FILES.write(descriptor, taken);
  }

  sync(descriptor: number, done: (error: Error | null) => void): void {
    this.syncs++;
    const counted = this.counted(done);
    const answer = this.syncFails ? () => counted(new Error('EIO')) : () => SYSTEM_FILES.sync(descriptor, counted);
    if (this.held === undefined) setImmediate(answer);
    else this.held.push(answer);
  }

  private counted(done: (error: Error | null) => void): (error: Error | null) => void {
    this.underWay++;
    return (error) => {
      this.underWay--;
      done(error);
    };
  }
}

let directory: string;
let files: FragileFiles;
let troubles: string[];
let log: SegmentLog;

const append = (lines: string, to = log) => to.append(Buffer.from(lines));

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'segment-log-'));
  files = new FragileFiles();
  troubles = [];
  log = new SegmentLog({ directory, files, syncMs: SYNC_MS, onTrouble: (error) => troubles.push(String(error)) });
});

afterEach(async () => {
  await log.close();
  rmSync(directory, { recursive: true, force: true });
});

function contents(): string[] {
  return readdirSync(directory)
    .sort()
    .map((name) => readFileSync(join(directory, name), 'utf8'));
}

/** Waits until the background work has nothing left to do, however slow the disk is. */
function settledDown(): Promise<void> {
  const hasWork = () => log.segments.some(({ dirty, pins, retired }) => dirty || (retired && pins <= 0));
  return eventually(() => files.underWay === 0 && !hasWork(), { withinMs: 10_000 });
}

describe('segment log', () => {
  it('append → the bytes are in the file when it returns', () => {
    append('one\n');
    append('two ä\n');
    expect(contents()).toEqual(['one\ntwo ä\n']);
    expect(log.segments[0]?.bytes).toBe(11);
  });

  it('segment that is full → the next line starts a new file', () => {
    for (let written = 0; written < SEGMENT_MAX_BYTES; written += MEGABYTE.length) append(MEGABYTE).pins = 1;
    const next = append('next\n');
    expect(log.segments).toHaveLength(2);
    expect(contents()[1]).toBe('next\n');
    expect(next.bytes).toBe(5);
  });

  it('written bytes → synced to the disk in the background, once for many lines', async () => {
    append('one\n').pins++;
    append('two\n');
    await settledDown();
    expect(files.syncs).toBe(1);
    append('three\n');
    await settledDown();
    expect(files.syncs).toBe(2);
  });

  it('unpinned segment → deleted when it is full, not before', async () => {
    const first = append(MEGABYTE.repeat(8));
    first.pins = 1;
    log.unpin(first);
    await settledDown();
    expect(log.segments).toHaveLength(1);
    append('next\n').pins = 1;
    await settledDown();
    expect(contents()).toEqual(['next\n']);
  });

  it('segment that loses its last pin later → deleted at that moment', async () => {
    const first = append(MEGABYTE.repeat(8));
    first.pins = 2;
    append('next\n').pins = 1;
    log.unpin(first);
    await settledDown();
    expect(readdirSync(directory)).toHaveLength(2);
    log.unpin(first);
    await settledDown();
    expect(contents()).toEqual(['next\n']);
  });

  it('disk that fills up during a line → throws, reports a failure, and the next line goes to a new file', async () => {
    append('before\n').pins = 1;
    files.free = 3;
    expect(() => append('lost line\n')).toThrow('3 of 10 bytes');
    expect(log.failed).toBe(true);
    expect(troubles).toHaveLength(1);
    files.free = 100;
    append('after\n').pins = 1;
    expect(log.failed).toBe(false);
    await settledDown();
    expect(contents()).toEqual(['before\nlos', 'after\n']);
  });

  it('disk that stays full → refused lines leave no files behind', async () => {
    append('before\n').pins = 1;
    files.free = 0;
    for (let line = 0; line < 50; line++) expect(() => append('lost\n')).toThrow();
    await settledDown();
    expect(contents()).toEqual(['before\n']);
  });

  it('disk has room again without a write → the log recovers', async () => {
    files.free = 0;
    expect(() => append('lost\n')).toThrow();
    files.free = 100;
    await eventually(() => !log.failed, { withinMs: 10_000 });
  });

  it('sync that fails → reported, and later lines are written to a new file', async () => {
    files.syncFails = true;
    append('doubtful\n').pins = 1;
    await eventually(() => troubles.length > 0, { withinMs: 10_000 });
    files.syncFails = false;
    append('next\n').pins = 1;
    expect(troubles[0]).toContain('EIO');
    expect(contents()).toEqual(['doubtful\n', 'next\n']);
  });

  it('flushed → synced to the disk, and the directory once per file', async () => {
    append('one\n').pins = 1;
    await log.flush();
    append('two\n').pins = 1;
    await log.flush();
    expect([files.syncs, files.listings, log.failed]).toEqual([2, 1, false]);
  });

  it('flush while an earlier sync is under way → waits for that, and for one that began after its own line', async () => {
    files.held = [];
    append('early\n').pins = 1;
    const early = log.flush();
    await sleep(0);
    append('late\n').pins = 1;
    let isLateDone = false;
    const late = log.flush().then(() => {
      isLateDone = true;
    });
    expect(files.held).toHaveLength(1);
    files.held.shift()?.();
    await early;
    await eventually(() => files.held?.length === 1, { withinMs: 10_000 });
    expect(isLateDone).toBe(false);
    files.held.shift()?.();
    await late;
    files.held = undefined;
  });

  it('background sync that is due while another is under way → waits, so a flush of a later line waits for its own sync', async () => {
    files.held = [];
    append('early\n').pins = 1;
    const early = log.flush();
    await sleep(0);
    append('late\n').pins = 1;
    // The timer of the background sync was set before this one, and is shorter.
    await sleep(4 * SYNC_MS);
    expect(files.held).toHaveLength(1);
    files.held.shift()?.();
    await early;
    let isLateDone = false;
    const late = log.flush().then(() => {
      isLateDone = true;
    });
    await eventually(() => files.held?.length === 1, { withinMs: 10_000 });
    expect(isLateDone).toBe(false);
    files.held.shift()?.();
    await late;
    files.held = undefined;
  });

  it('flush of a line that a background sync has begun to sync → waits for that sync', async () => {
    files.held = [];
    append('line\n').pins = 1;
    await eventually(() => files.held?.length === 1, { withinMs: 10_000 });
    let isDone = false;
    const flushed = log.flush().then(() => {
      isDone = true;
    });
    await sleep(0);
    expect([files.held?.length, isDone]).toEqual([1, false]);
    files.held.shift()?.();
    await flushed;
    files.held = undefined;
  });

  it('flush that fails, by itself or because of an earlier sync → rejects and counts as failed; the next file is used', async () => {
    files.syncFails = true;
    append('lost\n').pins = 1;
    await expect(log.flush()).rejects.toThrow('did not take');
    expect(log.failed).toBe(true);
    files.held = [];
    append('background\n').pins = 1;
    await eventually(() => files.held?.length === 1, { withinMs: 10_000 });
    files.syncFails = false;
    append('behind it\n').pins = 1;
    const flushed = log.flush();
    for (const answer of files.held.splice(0)) answer();
    files.held = undefined;
    await expect(flushed).rejects.toThrow('did not take');
    append('next\n').pins = 1;
    await log.flush();
    expect(log.failed).toBe(false);
  });

  it('place in a segment → can be read back, even after the segment is closed', async () => {
    const first = append(`abc\n${MEGABYTE.repeat(8)}`);
    first.pins = 1;
    append('next\n');
    await settledDown();
    expect(first.closed).toBe(true);
    expect(log.read(first, 1, 2).toString()).toBe('bc');
    expect(() => log.read(first, 1, 2 ** 25)).toThrow('shorter than it was written');
  });

  it('close → syncs the rest to the disk, keeps pinned segments, accepts nothing more', async () => {
    append('kept\n').pins = 1;
    await log.close();
    expect(files.syncs).toBe(1);
    expect(contents()).toEqual(['kept\n']);
    expect(() => append('late\n')).toThrow('closed');
  });
});
