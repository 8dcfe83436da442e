/** A command or target of the palette. */
export interface Command {
  /** Unique among all commands. */
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  /** Further texts that it is found by, such as an id. */
  readonly also?: readonly string[];
  readonly run: () => void;
}

/**
 * The commands that match every typed word, best first: exact names, names that start with the text, then the others,
 * each in the given order. Results for an older text are shown only if they match this one.
 */
export function matching(commands: readonly Command[], typed: string): readonly Command[] {
  const text = typed.trim().toLowerCase();
  const words = text.split(/\s+/).filter((word) => word !== '');
  const ranked = commands.flatMap((command) => {
    const names = [command.label, ...(command.also ?? [])].map((name) => name.toLowerCase());
    const all = [...names, command.kind.toLowerCase()].join('\n');
    if (!words.every((word) => all.includes(word))) return [];
    return [{ command, rank: names.includes(text) ? 0 : names.some((name) => name.startsWith(text)) ? 1 : 2 }];
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ command }) => command);
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
