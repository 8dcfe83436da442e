/** `A`: an admission, as the event it becomes if nothing more is heard of it. `S`: a settled event. */
export type JournalMark = 'A' | 'S';

/** One line read back from a journal. */
export interface JournalLine {
  readonly mark: JournalMark;
  /** Ties a settlement to its admission. */
  readonly eventId: string;
  /** The JSON text as it was written. */
  readonly json: string;
}

const SEGMENT_NAME = /^\d{8,}\.log$/;

/** The file name of a segment: its number, padded so that names sort by age. */
export function segmentName(sequence: number): string {
  return `${String(sequence).padStart(8, '0')}.log`;
}

/** The segments among a directory's names, oldest first. */
export function segmentNames(names: readonly string[]): string[] {
  return names
    .filter((name) => SEGMENT_NAME.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}

/** A line as it stands in a segment, with its line end. `json` must hold no line break, which JSON text never needs. */
export function formatLine(mark: JournalMark, json: string): string {
  return `${mark}${json}\n`;
}

/**
 * The complete lines of a segment, without blank ones. What follows the last line end was being written when the
 * process died and is left out: nobody acted on it.
 */
export function completeLines(segment: string): string[] {
  return segment
    .slice(0, segment.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '');
}

/** Reads one line; `undefined` when it is damaged. */
export function parseLine(line: string): JournalLine | undefined {
  const mark = line[0];
  if (mark !== 'A' && mark !== 'S') return undefined;
  const json = line.slice(1);
  const eventId = eventIdOf(json);
  return eventId === undefined ? undefined : { mark, eventId, json };
}

function eventIdOf(json: string): string | undefined {
  try {
    const event: unknown = JSON.parse(json);
    if (typeof event !== 'object' || event === null || !('event_id' in event)) return undefined;
    return typeof event.event_id === 'string' ? event.event_id : undefined;
  } catch {
    return undefined;
  }
}
