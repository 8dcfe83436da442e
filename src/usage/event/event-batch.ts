import type { SettledJson } from '../../platform/journal/journal-entry.js';

/** Calls whose events share the members that `fixedMembers` renders. */
export class EventKind {
  /** The kind as an element of the second array of a batch. */
  readonly json: string;
  /** What ends the text of an event of this kind: its members … */
  readonly tail: Buffer;
  /** … or its number, in a batch. */
  readonly end: Buffer;

  /**
   * @param number unique within this process.
   * @param members JSON text without braces, each with a leading comma.
   */
  constructor(number: number, members: string) {
    this.json = `{"kind":${number}${members}}`;
    this.tail = Buffer.from(`${members}}`);
    this.end = Buffer.from(`,"kind":${number}}`);
  }
}

/** Events to store in one statement: two JSON arrays, of events and of the kinds that they name. */
export interface EventBatch {
  readonly events: string | Buffer;
  readonly kinds: string;
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

/** A batch of settled events: only the heads of their texts, because their kinds have the rest. */
export function batchOfKinds(events: readonly { readonly json: SettledJson; readonly kind: EventKind }[]): EventBatch {
  const kinds = new Set<EventKind>();
  const parts: Buffer[] = [];
  for (const { json, kind } of events) {
    kinds.add(kind);
    parts.push(parts.length === 0 ? OPEN : COMMA, json.head, kind.end);
  }
  parts.push(CLOSE);
  return { events: Buffer.concat(parts), kinds: `[${[...kinds].map(({ json }) => json).join(',')}]` };
}

/** A batch of complete events, each of a kind of its own. @param texts JSON objects. */
export function batchOfTexts(texts: readonly string[]): EventBatch {
  const events = `[${texts.map((text, kind) => `{"kind":${kind},${text.slice(1)}`).join(',')}]`;
  return { events, kinds: events };
}
