import { join } from 'node:path';
import type { JournalFiles } from './journal-files.js';
import { segmentName } from './journal-lines.rules.js';

/** Default of `segmentBytes`. */
export const SEGMENT_MAX_BYTES = 8 * 1024 * 1024;
/** While writing fails and nobody writes, whether it works again is tried this often. */
const PROBE_MS = 1_000;

/** One file of the log. */
export class Segment {
  bytes = 0;
  /** Reasons to keep the file; counted by whoever wrote into it. */
  pins = 0;
  /** Holds bytes that were not forced to the disk yet. */
  dirty = false;
  /** Its directory has been forced to the disk since it was made. */
  listed = false;
  /** Forcing it to the disk, while that is under way; tells whether it worked. */
  syncing: Promise<boolean> | undefined;
  /** Takes no further lines. */
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
  /** Longest time written bytes stay off the disk, in milliseconds. */
  readonly syncMs: number;
  /** A file takes no further lines once it holds this much; {@link SEGMENT_MAX_BYTES} when absent. */
  readonly segmentBytes?: number | undefined;
  /** Told of each failure. */
  readonly onTrouble: (error: unknown) => void;
}

/**
 * Append-only files: every write is complete when `append` returns, so that it survives the death of the process, and
 * is forced to the disk in the background. A file nobody pins is deleted, after what was written since then is safe.
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

  /** True since a write, or a flush that somebody waited for, failed and until one succeeds. */
  get failed(): boolean {
    return this.failing || this.flushFailing;
  }

  /** Every file there is, oldest first. */
  get segments(): readonly Segment[] {
    return this.kept;
  }

  /**
   * Writes whole lines with one call to the system.
   *
   * @returns where they went. The caller pins the segment as long as it needs them.
   * @throws Error when they could not be written completely; the next call starts a new file.
   */
  append(lines: string): Segment {
    let segment: Segment | undefined;
    try {
      segment = this.writable();
      const size = Buffer.byteLength(lines);
      const written = this.options.files.write(segment.descriptor, lines);
      if (written !== size) throw new Error(`the disk took ${written} of ${size} bytes`);
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
   * Forces to the disk what was written before this call, in its turn of the event loop. What is written while that is
   * under way is left to the next one.
   *
   * @throws Error, in the promise, when the disk did not take all of it: then none of it counts as written, ever.
   */
  async flush(): Promise<void> {
    const dirty = this.kept.filter((segment) => segment.dirty);
    const synced = await Promise.all(dirty.map((segment) => this.syncNext(segment)));
    this.flushFailing = !synced.every(Boolean);
    if (!this.flushFailing) return;
    this.probeLater();
    throw new Error('the disk did not take what was written');
  }

  /** Takes back one reason to keep the segment. */
  unpin(segment: Segment): void {
    segment.pins--;
    if (isUnused(segment)) this.schedule();
  }

  /** The text at a place of a segment, also of one that is closed. */
  read(segment: Segment, offset: number, length: number): string {
    return this.options.files.read(segment.file, offset, length).toString();
  }

  /** Forces everything to the disk, closes every file and deletes those nobody pins. The last call. */
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

  /** After a failed write; a file without one good line goes at once, or refused calls would fill the directory. */
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

  /** A blank line means nothing, but unlike an empty write it does not succeed on a full disk. */
  private tryBlankLine(): void {
    try {
      this.append('\n');
      if (this.flushFailing) this.flush().catch(() => undefined);
    } catch {
      // Reported, and tried again later.
    }
  }

  private schedule(): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.tidying = this.tidy();
    }, this.options.syncMs);
    this.timer.unref();
  }

  /** Deletes only what nobody pinned before the rest was forced to the disk: lines may have moved to a newer file. */
  private async tidy(): Promise<void> {
    const unused = this.kept.filter(isUnused);
    const dirty = this.kept.filter((segment) => segment.dirty && !isUnused(segment));
    const synced = await Promise.all(dirty.map((segment) => this.sync(segment)));
    if (synced.every(Boolean)) await Promise.all(unused.map((segment) => this.remove(segment)));
    for (const segment of this.kept) if (segment.retired && !segment.dirty) this.closeFile(segment);
    this.timer = undefined;
    if (this.kept.some((segment) => segment.dirty || isUnused(segment))) this.schedule();
  }

  /** After one that is under way: that may have begun before the last line was written. */
  private async syncNext(segment: Segment): Promise<boolean> {
    const earlier = await (segment.syncing ?? true);
    const own = await (segment.dirty ? this.sync(segment) : (segment.syncing ?? true));
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

  /** The bytes, and once the name of the file: a file that no directory lists is lost with all its bytes. */
  private async forced(segment: Segment): Promise<Error | null> {
    const { files, directory } = this.options;
    const error = await new Promise<Error | null>((done) => files.sync(segment.descriptor, done));
    if (error !== null || segment.listed) return error;
    const unlisted = await new Promise<Error | null>((done) => files.syncDirectory(directory, done));
    segment.listed = unlisted === null;
    return unlisted;
  }

  /** A file that cannot be deleted stays behind; its events are stored, and storing them again changes nothing. */
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
