import type { Linked } from '../../common/linked-set.js';
import type { EventKind } from './journal-lines.rules.js';
import type { LineBlock } from './line-block.js';
import type { Segment } from './segment-log.js';

/** One admitted request in the journal. Opaque outside the journal. */
export class JournalEntry implements Linked<JournalEntry> {
  older: JournalEntry | undefined;
  newer: JournalEntry | undefined;
  isLinked = false;
  settled = false;
  stored = false;
  /** Where the admission is; absent until it is written. */
  admittedIn: Segment | undefined;
  /** Offset of its JSON in `admittedIn`, and its length, in bytes. */
  admittedAt = 0;
  admittedBytes = 0;
  /** Where the settlement is; absent until it is written. */
  settledIn: Segment | undefined;
  /** Likewise in `settledIn`; the length without the members of the kind. */
  settledAt = 0;
  settledBytes = 0;
  /** Of the settlement; absent before it, and where the event has none. */
  kind: EventKind | undefined;
  /** Holds the settled JSON; absent before the settlement and once only the disk holds it. */
  block: LineBlock | undefined;
  /** Offset of the settled JSON in `block`. */
  blockAt = 0;
}
