/** `A`: an admission, as the event it becomes without a settlement. `S`: a settled event. */
export type JournalMark = 'A' | 'S';

/** One parsed line of a journal. */
export interface JournalLine {
  readonly mark: JournalMark;
  /** Joins a settlement with its admission. */
  readonly eventId: string;
  readonly json: string;
}

const SEGMENT_NAME = /^\d{8,}\.log$/;

/** The file name of a segment: its number, padded so that names sort by age. */
export function segmentName(sequence: number): string {
  return `${String(sequence).padStart(8, '0')}.log`;
}

/** The segments of a directory listing, oldest first. */
export function segmentNames(names: readonly string[]): string[] {
  return names
    .filter((name) => SEGMENT_NAME.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}

/** A line of a segment, with its line end. `json` must contain no line break. */
export function formatLine(mark: JournalMark, json: string): string {
  return `${mark}${json}\n`;
}

/**
 * The complete, non-blank lines of a segment. An incomplete last line is dropped: the process died while writing it,
 * before acting on it.
 */
export function completeLines(segment: string): string[] {
  return segment
    .slice(0, segment.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '');
}

/** Parses one line; `undefined` when it is damaged. */
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
