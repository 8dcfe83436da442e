/** Something that the palette can do or show. */
export interface Command {
  /** Once among all. */
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  /** Further texts that it is found by, such as an id. */
  readonly also?: readonly string[];
  readonly run: () => void;
}

/**
 * The commands that have every word that is typed, the best first: those that are called so, those that begin so, then
 * the others, each in the order given. What was found for an older text is shown only as far as it fits this one.
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

/** A text whose last word begins the name of a part: the text before it, and the parts. */
export function partsIn<P extends string>(
  typed: string,
  parts: Readonly<Record<P, string>>,
): { readonly before: string; readonly parts: readonly P[] } {
  const [, before = '', last = ''] = /^(.*\S)\s+(\S+)$/.exec(typed.trim()) ?? [];
  const named = (Object.keys(parts) as P[]).filter((part) => parts[part].toLowerCase().startsWith(last.toLowerCase()));
  return last === '' || named.length === 0 ? { before: '', parts: [] } : { before, parts: named };
}
