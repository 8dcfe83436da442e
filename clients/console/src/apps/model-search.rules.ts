const SHOWN = 8;

/** What a search for models to allow shows: models to choose, or why there are none. */
export interface ModelSearch {
  readonly found: readonly string[];
  readonly note: string | undefined;
}

/** @param known names in the price list. @param allowed those that are allowed already. */
export function searchModels(known: Iterable<string>, allowed: readonly string[], typed: string): ModelSearch {
  const text = typed.trim().toLowerCase();
  const fitting = [...known].filter((name) => name.toLowerCase().includes(text));
  const found = fitting.filter((name) => !allowed.includes(name)).slice(0, SHOWN);
  if (found.length > 0) return { found, note: undefined };
  if (allowed.includes(typed.trim())) return { found, note: 'It is already allowed.' };
  const note =
    fitting.length > 0
      ? 'Every model of the price list with this text is already allowed. Enter adds the name as it is.'
      : 'Not in the price list. Enter adds it; saving is refused if the gateway finds no price for it.';
  return { found, note };
}
