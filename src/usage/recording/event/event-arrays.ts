import type { JournalEntry } from '../../../platform/journal/journal-entry.js';
import type { EventKind } from '../../../platform/journal/journal-lines.rules.js';
import type { SettledReader } from '../../../platform/journal/settled-reader.js';

/** Events to store in one statement: two JSON arrays, of events and of the kinds that they name. */
export interface EventArrays {
  readonly events: string | Buffer;
  readonly kinds: string;
}

/** A settled event and its kind. */
export interface EventOfKind {
  readonly entry: JournalEntry;
  readonly kind: EventKind;
}

const [OPEN, COMMA, CLOSE] = [0x5b, 0x2c, 0x5d];

/**
 * The arrays of settled events: only the heads of their texts, because their kinds have the rest.
 *
 * @throws Error when an event cannot be read back from the disk.
 */
export function arraysOfKinds(settled: readonly EventOfKind[], reader: SettledReader): EventArrays {
  const kinds = new Set<EventKind>();
  let length = 1;
  for (const { entry, kind } of settled) {
    kinds.add(kind);
    length += 1 + reader.headLength(entry) + kind.end.length;
  }
  const events = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const { entry, kind } of settled) {
    events[at] = at === 0 ? OPEN : COMMA;
    reader.copyHead(entry, events, at + 1);
    at += 1 + reader.headLength(entry);
    events.set(kind.end, at);
    at += kind.end.length;
  }
  events[at] = CLOSE;
  return { events, kinds: `[${[...kinds].map(({ json }) => json).join(',')}]` };
}

/** The arrays of complete events, each of a kind of its own. @param texts JSON objects. */
export function arraysOfTexts(texts: readonly string[]): EventArrays {
  const events = `[${texts.map((text, kind) => `{"kind":${kind},${text.slice(1)}`).join(',')}]`;
  return { events, kinds: events };
}
