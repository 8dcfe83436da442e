import { endOfLastEvent, SseEventEnds } from '../../upstreams/usage/sse-events.js';
import { CheckedMembers } from '../json/checked-members.js';
import { applyEdits, type JsonEdit } from '../json/json-edit.js';
import { scanJson } from '../json/json-scan.js';
import { memberValue, type ObjectSpan } from '../json/scanned-body.js';

/**
 * Maximum bytes of one unfinished event to hold back; a longer event passes unchanged.
 * Source: docs/reference/application-api.md#streams.
 */
export const MAX_HELD_BYTES = 1024 * 1024;

const CHUNK_NAMES = new CheckedMembers({ root: ['usage', 'choices'], nested: {}, deep: [], media: [] });
const USAGE = Buffer.from('"usage"');
const DATA = Buffer.from('data:');
const LF = 0x0a;
const CR = 0x0d;
const OPEN_OBJECT = 0x7b;
const NULL_START = 0x6e;
/** `[]` with some white space inside. */
const EMPTY_ARRAY_MAX_BYTES = 16;

/** A hold buffer above this capacity is released after use. */
const KEPT_CAPACITY = 16 * 1024;
const NO_BYTES = Buffer.alloc(0);

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Range of the text after `data:`; undefined when the event has no such line or several. */
function onlyDataLine(event: Buffer): Range | undefined {
  let found: Range | undefined;
  for (let start = 0; start < event.length; ) {
    const newline = event.indexOf(LF, start);
    const next = newline === -1 ? event.length : newline + 1;
    if (event.compare(DATA, 0, DATA.length, start, Math.min(start + DATA.length, next)) === 0) {
      if (found !== undefined) return undefined;
      found = { start: start + DATA.length, end: newline === -1 ? next : newline };
    }
    start = next;
  }
  return found;
}

function hasNoChoices(json: Buffer, root: ObjectSpan): boolean {
  const choices = root.members.get('choices');
  if (choices === undefined || choices.end - choices.start > EMPTY_ARRAY_MAX_BYTES) return false;
  const value = memberValue(json, choices, 'choices');
  return Array.isArray(value) && value.length === 0;
}

/** The event for the client: undefined for the usage-only chunk, without `usage: null`, or the same buffer. */
function withoutUsage(event: Buffer): Buffer | undefined {
  const line = onlyDataLine(event);
  if (line === undefined) return event;
  const json = event.subarray(line.start, line.end);
  const { root } = scanJson(json, CHUNK_NAMES);
  const usage = root.members.get('usage');
  if (usage === undefined) return event;
  if (json[usage.start] === OPEN_OBJECT) return hasNoChoices(json, root) ? undefined : event;
  if (json[usage.start] !== NULL_START) return event;
  const remove: JsonEdit = { kind: 'remove', object: root, member: usage };
  return Buffer.concat([event.subarray(0, line.start), applyEdits(json, [remove]), event.subarray(line.end)]);
}

/** Leaves an unrecognised event unchanged. */
function rewriteEvent(event: Buffer): Buffer | undefined {
  if (!event.includes(USAGE)) return event;
  try {
    return withoutUsage(event);
  } catch {
    return event;
  }
}

/**
 * Removes from a Chat Completions stream what the gateway's own usage request added: the usage-only chunk, and `usage:
 * null` in the others. All other bytes pass unchanged; only an unfinished event waits for its end. Never throws. Chunks
 * are not retained; held bytes are copied.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export class UsageChunkFilter {
  private held: Buffer = NO_BYTES;
  private heldBytes = 0;
  private readonly ends = new SseEventEnds();
  /** The current event was too long to hold; its rest passes unchanged. */
  private passing = false;

  /** Returns the bytes for the client after this chunk; undefined when there are none yet. */
  push(chunk: Buffer): Buffer | undefined {
    const fresh = this.heldBytes === 0 && !this.passing && !this.ends.isWithinLine;
    const usageAt = chunk.indexOf(USAGE);
    if (fresh && usageAt === -1 && endOfLastEvent(chunk) === chunk.length) return chunk;
    const out: Buffer[] = [];
    const eventStart = this.passEvents(chunk, usageAt, out);
    if (eventStart < chunk.length) this.hold(chunk.subarray(eventStart), out);
    return joined(out);
  }

  /** Returns the bytes still held when the upstream ended; the filter is then done. */
  end(): Buffer | undefined {
    const rest = rewriteEvent(this.whole(NO_BYTES));
    return rest !== undefined && rest.length > 0 ? rest : undefined;
  }

  /**
   * Appends all events that end in this chunk to `out`, runs of unchanged events as one piece. Returns the end offset.
   */
  private passEvents(chunk: Buffer, firstUsage: number, out: Buffer[]): number {
    let usageAt = firstUsage;
    let kept = 0;
    let eventStart = 0;
    for (let end = this.ends.next(chunk, 0); end !== -1; end = this.ends.next(chunk, end)) {
      const holdsUsage = usageAt !== -1 && usageAt < end;
      if (this.heldBytes > 0 || (holdsUsage && !this.passing)) {
        if (kept < eventStart) out.push(chunk.subarray(kept, eventStart));
        const event = rewriteEvent(this.whole(chunk.subarray(eventStart, end)));
        if (event !== undefined) out.push(event);
        kept = end;
      }
      if (holdsUsage) usageAt = chunk.indexOf(USAGE, end);
      this.passing = false;
      eventStart = end;
    }
    if (kept < eventStart) out.push(chunk.subarray(kept, eventStart));
    return eventStart;
  }

  private hold(rest: Buffer, out: Buffer[]): void {
    if (this.passing || this.heldBytes + rest.length > MAX_HELD_BYTES || hasBareCr(rest)) {
      out.push(this.whole(rest));
      this.passing = true;
    } else this.keep(rest);
  }

  private keep(rest: Buffer): void {
    const size = this.heldBytes + rest.length;
    if (size > this.held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, this.held.length * 2));
      this.held.copy(larger, 0, 0, this.heldBytes);
      this.held = larger;
    }
    rest.copy(this.held, this.heldBytes);
    this.heldBytes = size;
  }

  /** The held part of the event, followed by `end`. */
  private whole(end: Buffer): Buffer {
    if (this.heldBytes === 0) return end;
    const event = Buffer.concat([this.held.subarray(0, this.heldBytes), end]);
    this.heldBytes = 0;
    if (this.held.length > KEPT_CAPACITY) this.held = NO_BYTES;
    return event;
  }
}

/** Whether a line ends in CR alone. The filter does not detect the end of such events, so they must not wait for it. */
function hasBareCr(bytes: Buffer): boolean {
  const at = bytes.indexOf(CR);
  return at !== -1 && at + 1 < bytes.length && bytes[at + 1] !== LF;
}

function joined(pieces: readonly Buffer[]): Buffer | undefined {
  const [first, ...rest] = pieces;
  return rest.length === 0 || first === undefined ? first : Buffer.concat(pieces);
}
