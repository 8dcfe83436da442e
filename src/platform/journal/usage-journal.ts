import { appendFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Log } from '../../common/log/log.js';
import { JournalEntry, leaveOnDisk } from './journal-entry.js';
import { type JournalFiles, SYSTEM_FILES } from './journal-files.js';
import { deleteJournal, leaveJournal, takeJournalHome } from './journal-home.js';
import { formatLine } from './journal-lines.rules.js';
import { type RecoveredEvent, type RecoverySummary, recoverJournal } from './journal-recovery.js';
import { type Segment, SegmentLog } from './segment-log.js';

const REFUSAL_RETRY_SECONDS = 1;
/** Longest a call waits for the disk. */
const LONGEST_SYNC_MS = 5_000;
/** Troubles are logged this often at most. */
const LOG_EVERY_MS = 1_000;
/** Segments that may be kept before admissions that are still open move to the newest one … */
const KEPT_SEGMENTS = 4;
/** … this many at a time. */
const CARRIED_AT_ONCE = 500;
/** Settled events that wait in memory; the text of further ones is read back from the disk when it is needed. */
const EVENTS_IN_MEMORY = 20_000;
/** Lines nobody could use, kept for people. */
const REJECTED_FILE = 'rejected.log';

export interface UsageJournalOptions {
  /** Holds the journals of every process that uses this data directory. */
  readonly root: string;
  /** Letters, digits, `-` and `_`. */
  readonly instanceId: string;
  /** How often written lines are forced to the disk, in milliseconds. */
  readonly syncMs: number;
  /** Settled events that may wait for Postgres; at this number new calls are refused. */
  readonly maxPending: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly files?: JournalFiles;
  /** Size at which a new file is begun, in bytes. */
  readonly segmentBytes?: number;
}

/**
 * Remembers every request between the moment its provider is called and the moment Postgres has its event, so that a
 * killed process neither loses nor doubles one. Lines are JSON with an `event_id`; what else they say is the caller's.
 *
 * An admission is written before `admit` returns. Killed between that and the sending, which is an instant, a request
 * that was never sent is recorded as interrupted; the other order would lose requests. A settlement is written at the
 * end of the same turn of the event loop; killed in between, its request counts as interrupted.
 *
 * Source: docs/reference/accounting.md#exactly-once.
 */
export class UsageJournal {
  private segmentLog: SegmentLog | undefined;
  private directory = '';
  private orphans: readonly string[] = [];
  /** Oldest first: a moved admission goes to the end. */
  private readonly unsettled = new Set<JournalEntry>();
  private unwritten: JournalEntry[] = [];
  private writeScheduled = false;
  private newest: Segment | undefined;
  private pendingCount = 0;
  private loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: UsageJournalOptions) {}

  /**
   * Makes the directory of this process and takes over those of processes that died; {@link recover} empties them.
   *
   * @throws Error when the directory cannot be written: the service then cannot start.
   */
  async open(): Promise<void> {
    const { root, instanceId, syncMs, segmentBytes, files = SYSTEM_FILES } = this.options;
    const { directory, orphans } = await takeJournalHome(root, instanceId);
    this.directory = directory;
    this.orphans = orphans;
    const onTrouble = (error: unknown) => this.report(error);
    this.segmentLog = new SegmentLog({ directory, files, syncMs, segmentBytes, onTrouble });
  }

  /** `full`: too many events wait for Postgres; `failed`: lines cannot be written. Both refuse new calls. */
  get state(): 'ok' | 'full' | 'failed' {
    if (this.segmentLog?.failed ?? true) return 'failed';
    return this.pendingCount >= this.options.maxPending ? 'full' : 'ok';
  }

  /** Settled events Postgres does not have yet. */
  get pending(): number {
    return this.pendingCount;
  }

  /** Admitted requests that are not settled yet. */
  get openAdmissions(): number {
    return this.unsettled.size;
  }

  /**
   * Writes an admission down, to be called right before the request is written to the provider.
   *
   * @param json the event as it is to be recorded when nothing more is ever heard of it.
   * @throws service_unavailable the call must not be made: it could not be recorded.
   */
  admit(json: string): JournalEntry {
    if (this.pendingCount >= this.options.maxPending) throw refusal('usage_journal_full');
    let segment: Segment;
    try {
      segment = this.write(formatLine('A', json));
    } catch (error) {
      throw refusal('usage_journal_failed', error);
    }
    const entry = new JournalEntry(json, segment);
    segment.pins++;
    this.unsettled.add(entry);
    if (segment !== this.newest) this.enter(segment);
    return entry;
  }

  /**
   * Forces to the disk what was written in this turn of the event loop, and before: admissions survive a loss of power
   * from then on.
   *
   * @throws service_unavailable, in the promise: none of these calls may be made.
   */
  async synced(): Promise<void> {
    const timer = new AbortController();
    const late = sleep(LONGEST_SYNC_MS, undefined, { signal: timer.signal }).then(() => {
      throw new Error(`the disk took longer than ${LONGEST_SYNC_MS} ms`);
    });
    try {
      await Promise.race([this.segments.flush(), late]);
    } catch (error) {
      throw refusal('usage_journal_failed', error);
    } finally {
      timer.abort();
    }
  }

  /**
   * Writes again what an open admission is to be recorded as. Never throws: should it not be written, the first text
   * stands.
   */
  readmit(entry: JournalEntry, json: string): void {
    if (entry.settled) return;
    entry.json = json;
    this.carryOver([entry]);
  }

  /** Notes the finished event of an admission. The first settlement counts; never throws. */
  settle(entry: JournalEntry, json: string): void {
    if (entry.settled) return;
    entry.settled = true;
    entry.json = json;
    this.unsettled.delete(entry);
    this.pendingCount++;
    this.unwritten.push(entry);
    if (this.writeScheduled) return;
    this.writeScheduled = true;
    setImmediate(() => {
      this.writeScheduled = false;
      this.tryToWrite('');
    });
  }

  /**
   * The settled event of an entry.
   *
   * @throws Error when it waited on the disk and cannot be read back.
   */
  settledJson(entry: JournalEntry): string {
    if (entry.settledIn === undefined || entry.settledBytes === 0) return entry.json;
    const json = this.segments.read(entry.settledIn, entry.settledAt, entry.settledBytes);
    if (Buffer.byteLength(json) !== entry.settledBytes) throw new Error('the journal is shorter than it was written');
    return json;
  }

  /** Forgets settled entries: Postgres has them, or they were set aside. */
  stored(entries: readonly JournalEntry[]): void {
    for (const entry of entries) {
      if (!entry.settled || entry.stored) continue;
      entry.stored = true;
      this.pendingCount--;
      this.segments.unpin(entry.admittedIn);
      if (entry.settledIn !== undefined) this.segments.unpin(entry.settledIn);
    }
  }

  /** Keeps a line nobody can use for people to look at. */
  setAside(line: string): void {
    appendFileSync(join(this.options.root, REJECTED_FILE), `${line}\n`, { mode: 0o600, flush: true });
  }

  /**
   * Hands over what dead processes left behind and deletes their journals. A journal that cannot be read is left for
   * the next start.
   *
   * @param store must not return before the events are stored; an event may have been stored before.
   * @param recovered told of each process all of whose events are, by its instance id.
   */
  async recover(
    store: (events: readonly RecoveredEvent[]) => Promise<void>,
    recovered: (instanceId: string) => Promise<void> = async () => undefined,
  ): Promise<RecoverySummary> {
    const summary: RecoverySummary = { files: 0, events: 0, interrupted: 0, damagedLines: 0 };
    for (const directory of this.orphans) {
      const onTrouble = (error: unknown) => this.report(error);
      const keepDamaged = (line: string) => this.tryToSetAside(line);
      const complete = await recoverJournal(directory, { store, keepDamaged, onTrouble, summary });
      if (complete) await recovered(basename(directory));
      if (complete) deleteJournal(directory);
      else leaveJournal(directory);
    }
    this.orphans = [];
    return summary;
  }

  /** Writes what waits, forces it to the disk and gives the directory up; deletes it when Postgres has everything. */
  async close(): Promise<void> {
    if (this.segmentLog === undefined) return;
    this.tryToWrite('');
    await this.segments.close();
    if (this.segments.segments.length === 0) deleteJournal(this.directory);
    for (const directory of [this.directory, ...this.orphans]) leaveJournal(directory);
  }

  private get segments(): SegmentLog {
    if (this.segmentLog === undefined) throw new Error('the journal is not open');
    return this.segmentLog;
  }

  /** Writes the settlements that wait and then `lines`, all with one call. */
  private write(lines: string): Segment {
    const settled = this.unwritten.filter((entry) => !entry.stored);
    let text = '';
    for (const entry of settled) text += formatLine('S', entry.json);
    text += lines;
    const segment = this.segments.append(text);
    this.unwritten = [];
    for (const entry of settled) {
      entry.settledIn = segment;
      segment.pins++;
    }
    if (this.pendingCount > EVENTS_IN_MEMORY) leaveOnDisk(settled, segment.bytes - Buffer.byteLength(text));
    return segment;
  }

  private tryToWrite(lines: string): void {
    this.unwritten = this.unwritten.filter((entry) => !entry.stored);
    if (lines === '' && this.unwritten.length === 0) return;
    try {
      this.write(lines);
    } catch {
      // Reported by the segments; what waits goes out with the next write that succeeds.
    }
  }

  private tryToSetAside(line: string): void {
    try {
      this.setAside(line);
    } catch (error) {
      this.report(error);
    }
  }

  /** A request that stays open for hours must not keep every file since it began: its admission is written again. */
  private enter(segment: Segment): void {
    this.newest = segment;
    const recent = this.segments.segments.slice(-KEPT_SEGMENTS);
    if (recent.length === this.segments.segments.length) return;
    const moved: JournalEntry[] = [];
    for (const entry of this.unsettled) {
      if (moved.length === CARRIED_AT_ONCE || recent.includes(entry.admittedIn)) break;
      moved.push(entry);
    }
    if (moved.length > 0) this.carryOver(moved);
  }

  private carryOver(entries: readonly JournalEntry[]): void {
    let segment: Segment;
    try {
      segment = this.write(entries.map((entry) => formatLine('A', entry.json)).join(''));
    } catch {
      return;
    }
    for (const entry of entries) {
      segment.pins++;
      this.segments.unpin(entry.admittedIn);
      entry.admittedIn = segment;
      this.unsettled.delete(entry);
      this.unsettled.add(entry);
    }
  }

  private report(error: unknown): void {
    const nowMs = this.options.clock.monotonicMs();
    if (nowMs - this.loggedAtMs >= LOG_EVERY_MS) {
      this.loggedAtMs = nowMs;
      this.options.log.event('usage_journal_failed', { error: String(error) });
    }
  }
}

function refusal(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('service_unavailable', { reason, cause, retryAfterSeconds: REFUSAL_RETRY_SECONDS });
}
