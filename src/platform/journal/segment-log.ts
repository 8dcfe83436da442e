import { join } from 'node:path';
import type { JournalFiles } from './journal-files.js';
import { segmentName } from './journal-lines.rules.js';

/** Default of `segmentBytes`. */
export const SEGMENT_MAX_BYTES = 8 * 1024 * 1024;
const BLANK_LINE = Buffer.from('\n');
/** Interval of write probes while writing fails. */
const PROBE_MS = 1_000;

export class Segment {
  bytes = 0;
  /** References by writers; the file is kept while above 0. */
  pins = 0;
  /** Has unsynced bytes. */
  dirty = false;
  /** Its directory entry was synced. */
  listed = false;
  /** The sync in progress; resolves to whether it succeeded. */
  syncing: Promise<boolean> | undefined;
  /** Accepts no further lines. */
  retired = false;
  closed = false;

  constructor(
    readonly file: string,
    readonly descriptor: number,
  ) {}
}

export interface SegmentLogOptions {
  readonly directory: string;
  readonly files: JournalFiles;
  /** Longest time between a write and its sync, in milliseconds. */
  readonly syncMs: number;
  /** Size at which a file accepts no further lines, in bytes; {@link SEGMENT_MAX_BYTES} when absent. */
  readonly segmentBytes?: number | undefined;
  /** Called for each failure. */
  readonly onTrouble: (error: unknown) => void;
}

/**
 * Append-only files. A write is complete when `append` returns, so it survives a crash of the process; the sync to disk
 * follows in the background. An unpinned file is deleted after all later writes are synced.
 */
export class SegmentLog {
  private current: Segment | undefined;
  private kept: Segment[] = [];
  private lastSequence = 0;
  private timer: NodeJS.Timeout | undefined;
  private tidying: Promise<void> | undefined;
  private probe: NodeJS.Timeout | undefined;
  private failing = false;
  private flushFailing = false;
  private ended = false;

  constructor(private readonly options: SegmentLogOptions) {}

  /** True after a failed write, or a failed `flush`, until one succeeds. */
  get failed(): boolean {
    return this.failing || this.flushFailing;
  }

  get segments(): readonly Segment[] {
    return this.kept;
  }

  /**
   * Writes whole lines with one system call.
   *
   * @returns the segment that holds them, at its end; the caller pins it for as long as it needs them.
   * @throws Error when the write was incomplete; the next call starts a new file.
   */
  append(lines: Buffer): Segment {
    let segment: Segment | undefined;
    try {
      segment = this.writable();
      const written = this.options.files.write(segment.descriptor, lines);
      if (written !== lines.length) throw new Error(`the disk took ${written} of ${lines.length} bytes`);
      segment.bytes += written;
      segment.dirty = true;
      this.schedule();
      this.failing = false;
      return segment;
    } catch (error) {
      this.giveUp(segment);
      this.failing = true;
      this.probeLater();
      this.options.onTrouble(error);
      throw error;
    }
  }

  /**
   * Syncs everything written before this call. Writes during the sync belong to the next one.
   *
   * @throws Error, in the promise, when the sync failed: none of the data then counts as written.
   */
  async flush(): Promise<void> {
    const unsynced = this.kept.filter((segment) => segment.dirty || segment.syncing !== undefined);
    const synced = await Promise.all(unsynced.map((segment) => this.syncNext(segment)));
    this.flushFailing = !synced.every(Boolean);
    if (!this.flushFailing) return;
    this.probeLater();
    throw new Error('the disk did not take what was written');
  }

  unpin(segment: Segment): void {
    segment.pins--;
    if (isUnused(segment)) this.schedule();
  }

  /**
   * The bytes at an offset of a segment, also of a closed one.
   *
   * @throws Error when the file cannot be read or is shorter.
   */
  read(segment: Segment, offset: number, length: number): Buffer {
    const bytes = this.options.files.read(segment.file, offset, length);
    if (bytes.length !== length) throw new Error('the journal is shorter than it was written');
    return bytes;
  }

  /** Syncs everything, closes every file and deletes unpinned ones. No call may follow. */
  async close(): Promise<void> {
    this.ended = true;
    clearTimeout(this.probe);
    if (this.current !== undefined) this.retire(this.current);
    await this.tidying;
    clearTimeout(this.timer);
    await this.tidy();
    clearTimeout(this.timer);
  }

  private writable(): Segment {
    if (this.ended) throw new Error('the log is closed');
    const { segmentBytes = SEGMENT_MAX_BYTES } = this.options;
    if (this.current !== undefined && this.current.bytes >= segmentBytes) this.retire(this.current);
    this.current ??= this.start();
    return this.current;
  }

  private start(): Segment {
    const file = join(this.options.directory, segmentName(++this.lastSequence));
    const segment = new Segment(file, this.options.files.create(file));
    this.kept.push(segment);
    return segment;
  }

  private retire(segment: Segment): void {
    segment.retired = true;
    if (this.current === segment) this.current = undefined;
    this.schedule();
  }

  /** Retires the file of a failed write; deletes an empty file at once, because each refused call would add one. */
  private giveUp(segment: Segment | undefined): void {
    if (segment === undefined) return;
    this.retire(segment);
    if (segment.bytes === 0) void this.remove(segment);
  }

  private probeLater(): void {
    if (this.probe !== undefined || this.ended) return;
    this.probe = setTimeout(() => {
      this.probe = undefined;
      if (this.failed) this.tryBlankLine();
    }, PROBE_MS);
    this.probe.unref();
  }

  /** Probes with a blank line, which readers ignore; an empty write would succeed on a full disk. */
  private tryBlankLine(): void {
    try {
      this.append(BLANK_LINE);
      if (this.flushFailing) this.flush().catch(() => undefined);
    } catch {
      // `append` has reported it and scheduled the next probe.
    }
  }

  private schedule(): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.tidying = this.tidy();
    }, this.options.syncMs);
    this.timer.unref();
  }

  /** Deletes only files that were unpinned before the other files were synced: lines may have moved to a newer file. */
  private async tidy(): Promise<void> {
    const unused = this.kept.filter(isUnused);
    const dirty = this.kept.filter((segment) => segment.dirty && !isUnused(segment));
    const synced = await Promise.all(dirty.map((segment) => this.syncNext(segment)));
    if (synced.every(Boolean)) await Promise.all(unused.map((segment) => this.remove(segment)));
    for (const segment of this.kept) if (segment.retired && !segment.dirty) this.closeFile(segment);
    this.timer = undefined;
    if (this.kept.some((segment) => segment.dirty || isUnused(segment))) this.schedule();
  }

  /**
   * Syncs what was written before this call, one sync of a file at a time: one in progress may have begun before the
   * last write, and one that another caller starts after it covers that write.
   */
  private async syncNext(segment: Segment): Promise<boolean> {
    const earlier = await (segment.syncing ?? true);
    const own = await (segment.syncing ?? (segment.dirty ? this.sync(segment) : true));
    return earlier && own;
  }

  private sync(segment: Segment): Promise<boolean> {
    segment.dirty = false;
    const synced = this.forced(segment).then((error) => {
      segment.syncing = undefined;
      if (error === null) return true;
      this.retire(segment);
      this.options.onTrouble(error);
      return false;
    });
    segment.syncing = synced;
    return synced;
  }

  /** Syncs the data and, once, the directory entry, without which the file is lost. */
  private async forced(segment: Segment): Promise<Error | null> {
    const { files, directory } = this.options;
    const error = await new Promise<Error | null>((done) => files.sync(segment.descriptor, done));
    if (error !== null || segment.listed) return error;
    const unlisted = await new Promise<Error | null>((done) => files.syncDirectory(directory, done));
    segment.listed = unlisted === null;
    return unlisted;
  }

  /** A file that cannot be deleted remains; its events are stored, and storing them again is idempotent. */
  private async remove(segment: Segment): Promise<void> {
    this.kept = this.kept.filter((other) => other !== segment);
    this.closeFile(segment);
    const error = await new Promise<Error | null>((done) => this.options.files.remove(segment.file, done));
    if (error !== null) this.options.onTrouble(error);
  }

  private closeFile(segment: Segment): void {
    if (segment.closed) return;
    segment.closed = true;
    this.options.files.close(segment.descriptor);
  }
}

function isUnused(segment: Segment): boolean {
  return segment.retired && segment.pins === 0;
}
