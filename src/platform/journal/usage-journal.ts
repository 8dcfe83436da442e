import { appendFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Reason } from '../../common/errors/reasons.js';
import { LinkedSet } from '../../common/linked-set.js';
import type { Log } from '../../common/log/log.js';
import { JournalEntry } from './journal-entry.js';
import { type JournalFiles, SYSTEM_FILES } from './journal-files.js';
import { deleteJournal, leaveJournal, takeJournalHome } from './journal-home.js';
import type { EventKind } from './journal-lines.rules.js';
import { type RecoveredEvent, type RecoverySummary, recoverJournal } from './journal-recovery.js';
import { bytesOf, type EncodedLine, LineBlocks } from './line-block.js';
import { type Segment, SegmentLog } from './segment-log.js';
import { SettledReader } from './settled-reader.js';
import { UnstoredCalls } from './unstored-calls.js';

const REFUSAL_RETRY_SECONDS = 1;
/** Longest wait of a call for a sync. */
const LONGEST_SYNC_MS = 5_000;
/** Minimum interval between two log lines. */
const LOG_EVERY_MS = 1_000;
/** Segments kept before open admissions are copied to the newest one … */
const KEPT_SEGMENTS = 4;
/** … in batches of this size. */
const CARRIED_AT_ONCE = 500;
/** Settled events kept in memory; further ones are read back from disk. */
const EVENTS_IN_MEMORY = 20_000;
/** The parts of a line besides its JSON. */
const MARK_AND_END_BYTES = 2;
/** Receives lines that cannot be stored, for the operator. */
const REJECTED_FILE = 'rejected.log';

type Line = EncodedLine<JournalEntry>;

export interface UsageJournalOptions {
  /** Holds the journals of every process that uses this data directory. */
  readonly root: string;
  /** Letters, digits, `-` and `_`. */
  readonly instanceId: string;
  /** Sync interval of written lines, in milliseconds. */
  readonly syncMs: number;
  /** Settled events that may wait for Postgres; at this number new calls are refused. */
  readonly maxPending: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly files?: JournalFiles;
  /** Size at which a new file starts, in bytes. */
  readonly segmentBytes?: number;
}

/**
 * A write-ahead journal that keeps every request from the provider call until Postgres has its event, so that a killed
 * process neither loses nor duplicates one. Lines are JSON with an `event_id`; the caller defines the other members.
 *
 * An admission is written before `admit` returns. A kill between that and the send records an unsent request as
 * interrupted; the reverse order would lose requests. Settlements of the same callback of the event loop are written
 * together after it; a kill before that records their requests as interrupted.
 *
 * Source: docs/reference/accounting.md#exactly-once.
 */
export class UsageJournal {
  /** Calls from their admission to their stored event, also while they are not in the journal yet. */
  readonly unstored = new UnstoredCalls();
  private segmentLog: SegmentLog | undefined;
  private directory = '';
  private orphans: readonly string[] = [];
  /** Oldest first; a copied admission moves to the end. */
  private readonly unsettled = new LinkedSet<JournalEntry>();
  private readonly blocks = new LineBlocks<JournalEntry>();
  /** Encoded, in order; written together. */
  private unwritten: Line[] = [];
  private writeScheduled = false;
  private newest: Segment | undefined;
  private pendingCount = 0;
  private loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: UsageJournalOptions) {}

  /**
   * Creates the directory of this process and takes over those of dead processes; {@link recover} empties them.
   *
   * @throws Error when the directory cannot be written: the service cannot start.
   */
  async open(): Promise<void> {
    const { root, instanceId, syncMs, segmentBytes, files = SYSTEM_FILES } = this.options;
    const { directory, orphans } = await takeJournalHome(root, instanceId);
    this.directory = directory;
    this.orphans = orphans;
    const onTrouble = (error: unknown) => this.report(error);
    this.segmentLog = new SegmentLog({ directory, files, syncMs, segmentBytes, onTrouble });
  }

  /** `full`: too many events wait for Postgres; `failed`: writes fail. Both refuse new calls. */
  get state(): 'ok' | 'full' | 'failed' {
    if (this.segmentLog?.failed ?? true) return 'failed';
    return this.pendingCount >= this.options.maxPending ? 'full' : 'ok';
  }

  /** Settled events not yet stored in Postgres. */
  get pending(): number {
    return this.pendingCount;
  }

  get openAdmissions(): number {
    return this.unsettled.size;
  }

  /**
   * Writes an admission; call it right before sending the request to the provider.
   *
   * @param head the event to record if no settlement follows, up to the members of its kind; complete without one.
   * @throws service_unavailable the admission could not be recorded, so the call must not be made.
   */
  admit(head: string, kind?: EventKind): JournalEntry {
    if (this.pendingCount >= this.options.maxPending) throw refusal('usage_journal_full');
    const entry = new JournalEntry();
    this.unsettled.add(entry);
    this.unwritten.push(this.blocks.encode(entry, 'A', head, kind));
    try {
      this.write();
    } catch (error) {
      throw refusal('usage_journal_failed', error);
    }
    return entry;
  }

  /**
   * Syncs everything written so far, this event loop turn included: the admissions then survive a power loss.
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

  /** Replaces the event of an open admission. Never throws: if the write fails, the first text applies. */
  readmit(entry: JournalEntry, head: string, kind?: EventKind): void {
    if (entry.settled) return;
    this.unwritten.push(this.blocks.encode(entry, 'A', head, kind));
    this.tryToWrite();
  }

  /**
   * Records the final event of an admission. Only the first settlement counts; never throws.
   *
   * @param head as for {@link admit}.
   */
  settle(entry: JournalEntry, head: string, kind?: EventKind): void {
    if (entry.settled) return;
    entry.settled = true;
    this.unsettled.delete(entry);
    this.pendingCount++;
    const line = this.blocks.encode(entry, 'S', head, kind);
    entry.kind = kind;
    entry.settledBytes = line.headLength;
    entry.block = line.block;
    entry.blockAt = line.at + 1;
    this.unwritten.push(line);
    if (this.writeScheduled) return;
    this.writeScheduled = true;
    queueMicrotask(() => {
      this.writeScheduled = false;
      this.tryToWrite();
    });
  }

  /** A reader of the settled events of these entries, until they are stored. */
  reader(entries: readonly JournalEntry[]): SettledReader {
    return new SettledReader(this.segments, entries);
  }

  /** Releases settled entries that Postgres has stored or that were set aside. */
  stored(entries: readonly JournalEntry[]): void {
    for (const entry of entries) {
      if (!entry.settled || entry.stored) continue;
      entry.stored = true;
      this.pendingCount--;
      if (entry.admittedIn !== undefined) this.segments.unpin(entry.admittedIn);
      if (entry.settledIn !== undefined) {
        this.segments.unpin(entry.settledIn);
        this.forget(entry);
      }
    }
  }

  /** Keeps a line that cannot be stored, for inspection by the operator. */
  setAside(line: string): void {
    appendFileSync(join(this.options.root, REJECTED_FILE), `${line}\n`, { mode: 0o600, flush: true });
  }

  /**
   * Stores the events of dead processes and deletes their journals. An unreadable journal is left for the next start.
   *
   * @param store must not return before the events are stored; must be idempotent.
   * @param recovered called with the instance id of each dead process after all its events are stored.
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

  /** Writes and syncs pending settlements and releases the directory; deletes it when Postgres has every event. */
  async close(): Promise<void> {
    if (this.segmentLog === undefined) return;
    this.tryToWrite();
    await this.segments.close();
    if (this.segments.segments.length === 0) deleteJournal(this.directory);
    for (const directory of [this.directory, ...this.orphans]) leaveJournal(directory);
  }

  private get segments(): SegmentLog {
    if (this.segmentLog === undefined) throw new Error('the journal is not open');
    return this.segmentLog;
  }

  /**
   * Writes all encoded lines with one system call.
   *
   * @throws Error they were not written: admissions are void, and settlements go out with the next write.
   */
  private write(): void {
    const lines = this.unwritten.filter(({ entry, mark, block }) => {
      if (mark === 'S' && entry.stored) this.blocks.release(block);
      return mark === 'A' || !entry.stored;
    });
    this.unwritten = [];
    if (lines.length === 0) return;
    let segment: Segment;
    try {
      segment = this.segments.append(bytesOf(lines));
    } catch (error) {
      this.giveUp(lines);
      throw error;
    }
    let at = segment.bytes - lines.reduce((sum, { length }) => sum + length, 0);
    for (const line of lines) {
      segment.pins++;
      if (line.mark === 'S') this.settledAt(line, segment, at);
      else this.admittedAt(line, segment, at);
      at += line.length;
    }
    if (segment !== this.newest) this.enter(segment);
  }

  private settledAt({ entry }: Line, segment: Segment, at: number): void {
    entry.settledIn = segment;
    entry.settledAt = at + 1;
    if (this.pendingCount > EVENTS_IN_MEMORY) this.forget(entry);
  }

  /** An admission that was written before moves to the newest segment. */
  private admittedAt({ entry, block, length }: Line, segment: Segment, at: number): void {
    this.blocks.release(block);
    if (entry.admittedIn !== undefined) {
      this.segments.unpin(entry.admittedIn);
      if (!entry.settled) this.unsettled.add(entry);
    }
    entry.admittedIn = segment;
    entry.admittedAt = at + 1;
    entry.admittedBytes = length - MARK_AND_END_BYTES;
  }

  private giveUp(lines: readonly Line[]): void {
    for (const line of lines) {
      const { entry } = line;
      if (line.mark === 'S') this.unwritten.push(line);
      else {
        this.blocks.release(line.block);
        if (entry.admittedIn !== undefined) continue;
        entry.settled = true;
        entry.stored = true;
        this.unsettled.delete(entry);
      }
    }
  }

  private forget(entry: JournalEntry): void {
    if (entry.block !== undefined) this.blocks.release(entry.block);
    entry.block = undefined;
  }

  private tryToWrite(): void {
    try {
      this.write();
    } catch {
      // The segment log has reported it; pending settlements go out with the next successful write.
    }
  }

  private tryToSetAside(line: string): void {
    try {
      this.setAside(line);
    } catch (error) {
      this.report(error);
    }
  }

  /**
   * Copies old admissions to the newest segment, so that a request open for hours does not keep every file since its
   * start.
   */
  private enter(segment: Segment): void {
    this.newest = segment;
    const recent = this.segments.segments.slice(-KEPT_SEGMENTS);
    if (recent.length === this.segments.segments.length) return;
    const old: JournalEntry[] = [];
    for (const entry of this.unsettled) {
      if (old.length === CARRIED_AT_ONCE || entry.admittedIn === undefined || recent.includes(entry.admittedIn)) break;
      old.push(entry);
    }
    if (old.length > 0) this.carryOver(old);
  }

  /** Writes admissions again. One that cannot be read stays where it is. */
  private carryOver(entries: readonly JournalEntry[]): void {
    try {
      for (const entry of entries) {
        const { admittedIn, admittedAt, admittedBytes } = entry;
        if (admittedIn === undefined) continue;
        const json = this.segments.read(admittedIn, admittedAt, admittedBytes).toString();
        this.unwritten.push(this.blocks.encode(entry, 'A', json, undefined));
      }
    } catch (error) {
      this.report(error);
    }
    this.tryToWrite();
  }

  private report(error: unknown): void {
    const nowMs = this.options.clock.monotonicMs();
    if (nowMs - this.loggedAtMs >= LOG_EVERY_MS) {
      this.loggedAtMs = nowMs;
      this.options.log.event('usage_journal_failed', { error: String(error) });
    }
  }
}

function refusal(reason: Reason, cause?: unknown): GatewayError {
  return new GatewayError('service_unavailable', { reason, cause, retryAfterSeconds: REFUSAL_RETRY_SECONDS });
}
