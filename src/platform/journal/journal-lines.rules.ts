/** `A`: an admission, as the event it becomes without a settlement. `S`: a settled event. */
export type JournalMark = 'A' | 'S';

/** Members that many events share, which a statement names once. Source: ADR 0055. */
export interface EventKind {
  /** Its number and its members. */
  readonly json: string;
  /** What ends an event that names its kind: the number. */
  readonly end: Buffer;
  /** What ends a complete event: the members. */
  readonly tail: Buffer;
}

/** One parsed line of a journal. */
export interface JournalLine {
  readonly mark: JournalMark;
  /** Joins a settlement with its admission. */
  readonly eventId: string;
  /** The complete event. */
  readonly json: string;
}

/**
 * Tails by the number of their kind, from the lines that one process has written so far: earlier versions wrote the
 * members of a kind once a file, and its number in the lines of events.
 */
export type KindTails = Map<number, string>;

/** Marks the line of a kind, by an earlier version. */
const KIND_MARK = 'K';

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

/**
 * @param number unique within this process.
 * @param tail JSON members, each with a leading comma, and the closing brace.
 */
export function eventKind(number: number, tail: string): EventKind {
  return { json: kindStart(number) + tail, end: Buffer.from(kindEnd(number)), tail: Buffer.from(tail) };
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

/**
 * Parses the complete lines of a segment, in order.
 *
 * @param kinds of the process that wrote it; those of the segment are added.
 * @returns events; damaged lines as their text.
 */
export function parseSegment(segment: string, kinds: KindTails): (JournalLine | string)[] {
  return completeLines(segment).flatMap((line) => {
    if (line.startsWith(KIND_MARK) && addKind(line.slice(1), kinds)) return [];
    return [parseLine(line, kinds) ?? line];
  });
}

/** Parses the line of an event; `undefined` when it is damaged, or the line of its kind is. */
function parseLine(line: string, kinds: KindTails): JournalLine | undefined {
  const mark = line[0];
  if (mark !== 'A' && mark !== 'S') return undefined;
  const text = line.slice(1);
  const { event_id: eventId, kind } = membersOf(text);
  if (typeof eventId !== 'string') return undefined;
  const json = kind === undefined ? text : completed(text, kind, kinds);
  return json === undefined ? undefined : { mark, eventId, json };
}

function completed(text: string, kind: unknown, kinds: KindTails): string | undefined {
  if (typeof kind !== 'number' || !text.endsWith(kindEnd(kind))) return undefined;
  const tail = kinds.get(kind);
  return tail === undefined ? undefined : text.slice(0, -kindEnd(kind).length) + tail;
}

/** @returns false when the line is damaged. */
function addKind(text: string, kinds: KindTails): boolean {
  const { kind } = membersOf(text);
  if (typeof kind !== 'number' || !text.startsWith(kindStart(kind))) return false;
  kinds.set(kind, text.slice(kindStart(kind).length));
  return true;
}

function kindStart(number: number): string {
  return `{"kind":${number}`;
}

function kindEnd(number: number): string {
  return `,"kind":${number}}`;
}

/** The members of a JSON object; none when the text is damaged or something else. */
function membersOf(text: string): { readonly event_id?: unknown; readonly kind?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
