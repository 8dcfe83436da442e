import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type JournalLine, parseSegment, segmentNames } from '../../platform/journal/journal-lines.rules.js';

/** An event in the journal of a process; it may be stored by now. */
export interface WrittenEvent {
  readonly event_id: string;
  readonly app_id: string;
  readonly user_id: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly created_at_ms: number;
}

/** Contents of the journals in a data directory. */
export interface WrittenEvents {
  /** Names of the journal directories, which are instance ids. */
  readonly directories: readonly string[];
  /** Events from the requested time on, one per id. */
  readonly events: readonly WrittenEvent[];
}

/**
 * Reads the journals of all processes, including running ones. A journal contains a call from before it is sent until
 * its event is stored, so a file that is deleted meanwhile contains only stored events.
 *
 * @param root directory with one directory per process.
 * @param fromMs earlier events are excluded; milliseconds since the Unix epoch.
 */
export async function readWrittenEvents(root: string, fromMs: number): Promise<WrittenEvents> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  const directories = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const events = new Map<string, WrittenEvent>();
  for (const directory of directories) {
    for (const name of segmentNames(await readdir(join(root, directory)).catch(() => []))) {
      const text = await readFile(join(root, directory, name), 'utf8').catch(() => '');
      for (const line of parseSegment(text, new Map())) {
        const event = typeof line === 'string' ? undefined : writtenEvent(line);
        if (event !== undefined && event.created_at_ms >= fromMs) events.set(event.event_id, event);
      }
    }
  }
  return { directories, events: [...events.values()] };
}

function writtenEvent(line: JournalLine): WrittenEvent | undefined {
  const event: unknown = JSON.parse(line.json);
  if (typeof event !== 'object' || event === null) return undefined;
  const members = new Map<string, unknown>(Object.entries(event));
  const [appId, userId, createdAtMs] = ['app_id', 'user_id', 'created_at_ms'].map((name) => members.get(name));
  if (typeof appId !== 'string' || typeof createdAtMs !== 'number') return undefined;
  return {
    event_id: line.eventId,
    app_id: appId,
    user_id: typeof userId === 'string' ? userId : null,
    created_at_ms: createdAtMs,
  };
}
