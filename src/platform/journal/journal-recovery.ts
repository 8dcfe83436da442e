import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { completeLines, type JournalLine, parseLine, segmentNames } from './journal-lines.rules.js';

/** Events handed over at once. */
const BATCH_EVENTS = 500;

/** An event that a dead process had written down and that may not be stored yet. */
export interface RecoveredEvent {
  readonly json: string;
  /** The process died between the admission and the end of the request. */
  readonly interrupted: boolean;
}

/** What became of the journals of dead processes. */
export interface RecoverySummary {
  files: number;
  events: number;
  /** How many of `events` were interrupted. */
  interrupted: number;
  damagedLines: number;
}

export interface RecoveryOptions {
  /** Stores events; they may have been stored before, so storing one twice must change nothing. */
  readonly store: (events: readonly RecoveredEvent[]) => Promise<void>;
  readonly keepDamaged: (line: string) => void;
  /** Told of a file that cannot be read. */
  readonly onTrouble: (error: unknown) => void;
  /** Counts what is found. */
  readonly summary: RecoverySummary;
}

/**
 * Reads one journal, a segment at a time, and hands over each of its events: settled ones in their order, then the
 * admissions that nobody settled. Remembers only the requests that were open together.
 *
 * @returns false when a file could not be read; nothing is then counted as interrupted, for its settlement may be there.
 */
export async function recoverJournal(directory: string, options: RecoveryOptions): Promise<boolean> {
  const open = new Map<string, string>();
  let complete = true;
  for (const name of segmentNames(await readdir(directory))) {
    options.summary.files++;
    const text = await readSegment(join(directory, name), options);
    if (text === undefined) complete = false;
    const settled = completeLines(text ?? '').flatMap((line) => settledBy(line, open, options));
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

/** Follows one line; the event it settles, if it settles one. */
function settledBy(text: string, open: Map<string, string>, options: RecoveryOptions): RecoveredEvent[] {
  const line: JournalLine | undefined = parseLine(text);
  if (line === undefined) {
    options.summary.damagedLines++;
    options.keepDamaged(text);
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
