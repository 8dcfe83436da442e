import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type JournalLine, type KindTails, parseSegment, segmentNames } from './journal-lines.rules.js';

/** Maximum events per call of `store`. */
const BATCH_EVENTS = 500;

/** A journaled event of a dead process that may not be stored yet. */
export interface RecoveredEvent {
  readonly json: string;
  /** The process died between the admission and the end of the request. */
  readonly interrupted: boolean;
}

/** Totals of a recovery. */
export interface RecoverySummary {
  files: number;
  events: number;
  /** How many of `events` were interrupted. */
  interrupted: number;
  damagedLines: number;
}

export interface RecoveryOptions {
  /** Stores events; must be idempotent, because some may be stored already. */
  readonly store: (events: readonly RecoveredEvent[]) => Promise<void>;
  readonly keepDamaged: (line: string) => void;
  /** Called for each unreadable file. */
  readonly onTrouble: (error: unknown) => void;
  /** Accumulates the totals. */
  readonly summary: RecoverySummary;
}

/**
 * Reads one journal segment by segment and stores its events: settled ones in order, then admissions without a
 * settlement. Memory holds only the requests that were open at the same time.
 *
 * @returns false when a file was unreadable; nothing then counts as interrupted, because that file may hold the
 * settlement.
 */
export async function recoverJournal(directory: string, options: RecoveryOptions): Promise<boolean> {
  const open = new Map<string, string>();
  const kinds: KindTails = new Map();
  let complete = true;
  for (const name of segmentNames(await readdir(directory))) {
    options.summary.files++;
    const text = await readSegment(join(directory, name), options);
    if (text === undefined) complete = false;
    const settled = parseSegment(text ?? '', kinds).flatMap((line) => settledBy(line, open, options));
    await hand(settled, options);
  }
  const interrupted = [...open.values()].map((json) => ({ json, interrupted: true }));
  if (complete) await hand(interrupted, options);
  return complete;
}

async function readSegment(file: string, { onTrouble }: RecoveryOptions): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    onTrouble(error);
    return undefined;
  }
}

/** Applies one line to `open`; returns the event that it settles, if any. */
function settledBy(line: JournalLine | string, open: Map<string, string>, options: RecoveryOptions): RecoveredEvent[] {
  if (typeof line === 'string') {
    options.summary.damagedLines++;
    options.keepDamaged(line);
    return [];
  }
  if (line.mark === 'A') {
    open.set(line.eventId, line.json);
    return [];
  }
  open.delete(line.eventId);
  return [{ json: line.json, interrupted: false }];
}

async function hand(events: readonly RecoveredEvent[], { store, summary }: RecoveryOptions): Promise<void> {
  for (let first = 0; first < events.length; first += BATCH_EVENTS) {
    const batch = events.slice(first, first + BATCH_EVENTS);
    await store(batch);
    summary.events += batch.length;
    summary.interrupted += batch.filter((event) => event.interrupted).length;
  }
}
