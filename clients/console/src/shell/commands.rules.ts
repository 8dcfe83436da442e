/** A command or target of the palette. */
export interface Command {
  /** Unique among all commands. */
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  /** Further texts that it is found by, such as an id. */
  readonly also?: readonly string[];
  /** Of a document: its place among all. Documents stand below everything else, in their own order. */
  readonly place?: number;
  readonly run: () => void;
}

/**
 * The commands that match every typed word, best first: exact names, names that start with the text, names with a word
 * that starts with it, then the others, each in the given order; documents last, by their places. Results for an older
 * text are shown only if they match this one.
 */
export function matching(commands: readonly Command[], typed: string): readonly Command[] {
  const text = typed.trim().toLowerCase();
  const words = text.split(/\s+/).filter((word) => word !== '');
  const ranked = commands.flatMap((command) => {
    const names = [command.label, ...(command.also ?? [])].map((name) => name.toLowerCase());
    const all = [...names, command.kind.toLowerCase()].join('\n');
    if (!words.every((word) => all.includes(word))) return [];
    return [{ command, place: command.place ?? NO_DOCUMENT, rank: rankOf(names, text) }];
  });
  return ranked.sort((a, b) => a.place - b.place || a.rank - b.rank).map(({ command }) => command);
}

const NO_DOCUMENT = -1;

function rankOf(names: readonly string[], text: string): number {
  if (names.includes(text)) return 0;
  if (names.some((name) => name.startsWith(text))) return 1;
  return names.some((name) => name.includes(` ${text}`)) ? 2 : 3;
}

/** At most `most` commands, with room for some documents if any match. */
export function shortened(commands: readonly Command[], most: number, mostDocuments: number): readonly Command[] {
  const documents = commands.filter(({ place }) => place !== undefined);
  const others = commands.filter(({ place }) => place === undefined);
  return [...others.slice(0, most - Math.min(documents.length, mostDocuments)), ...documents].slice(0, most);
}

/** A text whose last word starts the name of a part: the text before it, and the parts. */
export function partsIn<P extends string>(
  typed: string,
  parts: Readonly<Record<P, string>>,
): { readonly before: string; readonly parts: readonly P[] } {
  const [, before = '', last = ''] = /^(.*\S)\s+(\S+)$/.exec(typed.trim()) ?? [];
  const named = (Object.keys(parts) as P[]).filter((part) => parts[part].toLowerCase().startsWith(last.toLowerCase()));
  return last === '' || named.length === 0 ? { before: '', parts: [] } : { before, parts: named };
}
