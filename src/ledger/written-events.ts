import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { completeLines, parseLine, segmentNames } from '../platform/journal/journal-lines.rules.js';

/** An event that some process has written down; it may be stored by now. */
export interface WrittenEvent {
  readonly event_id: string;
  readonly app_id: string;
  readonly user_id: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly created_at_ms: number;
}

/** What the journals below a data directory say. */
export interface WrittenEvents {
  /** The processes whose journals these are, as their directories are named. */
  readonly directories: readonly string[];
  /** Of the day that was asked for and later, one of each id. */
  readonly events: readonly WrittenEvent[];
}

/**
 * Reads the journals of all processes, also of those that run: a call is in there from before it is sent until its event
 * is stored. Files that vanish meanwhile held nothing else.
 *
 * @param root holds one directory a process.
 * @param fromMs earlier events are left out.
 */
export async function readWrittenEvents(root: string, fromMs: number): Promise<WrittenEvents> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  const directories = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const events = new Map<string, WrittenEvent>();
  for (const directory of directories) {
    for (const name of segmentNames(await readdir(join(root, directory)).catch(() => []))) {
      const text = await readFile(join(root, directory, name), 'utf8').catch(() => '');
      for (const line of completeLines(text)) {
        const event = writtenEvent(line);
        if (event !== undefined && event.created_at_ms >= fromMs) events.set(event.event_id, event);
      }
    }
  }
  return { directories, events: [...events.values()] };
}

function writtenEvent(text: string): WrittenEvent | undefined {
  const line = parseLine(text);
  if (line === undefined) return undefined;
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
