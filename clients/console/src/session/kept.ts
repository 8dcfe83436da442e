import { useCallback, useSyncExternalStore } from 'react';

/** Prefix of keys with personal data; `index.html` and the theme use others. */
const PREFIX = 'person ';
/** Prefix of unsaved changes, followed by the id of an application. */
export const DRAFT = 'draft of ';
const changes = new EventTarget();

/**
 * What this browser keeps for one person, in the tab or for all tabs: nobody else reads it, and signing out deletes it.
 * Everything that a page keeps about a person's work goes through here.
 */
export class Kept {
  readonly #prefix: string;

  constructor(
    private readonly storage: Storage,
    personId: string,
  ) {
    this.#prefix = `${PREFIX}${personId} `;
  }

  get(name: string): string | null {
    return this.storage.getItem(this.#prefix + name);
  }

  set(name: string, text: string): void {
    this.storage.setItem(this.#prefix + name, text);
    changes.dispatchEvent(new Event('change'));
  }

  remove(name: string): void {
    this.storage.removeItem(this.#prefix + name);
    changes.dispatchEvent(new Event('change'));
  }

  /** The names that begin with a text. */
  names(start: string): readonly string[] {
    return keysOf(this.storage, this.#prefix + start).map((key) => key.slice(this.#prefix.length));
  }
}

/** Deletes the personal data; with an id, only that of others. */
export function forgetPeople(exceptId?: string): void {
  for (const storage of [sessionStorage, localStorage]) {
    for (const key of keysOf(storage, PREFIX)) {
      if (exceptId === undefined || !key.startsWith(`${PREFIX}${exceptId} `)) storage.removeItem(key);
    }
  }
  changes.dispatchEvent(new Event('change'));
}

/** A text that is kept, and follows changes in this tab and, of `localStorage`, in others. */
export function useKept(kept: Kept, name: string): string | null {
  const follow = useCallback((onChange: () => void) => {
    changes.addEventListener('change', onChange);
    addEventListener('storage', onChange);
    return () => {
      changes.removeEventListener('change', onChange);
      removeEventListener('storage', onChange);
    };
  }, []);
  return useSyncExternalStore(follow, () => kept.get(name));
}

/** A kept text as JSON; undefined if absent or not of this version. */
export function parsedOf(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function keysOf(storage: Storage, start: string): readonly string[] {
  return Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '').filter((key) =>
    key.startsWith(start),
  );
}
