/** What a search has found. */
export interface Ranked {
  /** The group of its page, as `Guides`. */
  readonly group: string;
  /** Words of the page that the words typed were found in. */
  readonly terms: readonly string[];
}

/** Groups of pages, from those that teach to those that only explain; others come last. */
const ORDER = ['Guides', 'Operation', 'Reference'];
/** A name of the product, such as an error code or a setting. */
const NAME = /[_.:]/;

/**
 * Guides before the reference, and both before decisions and schema, each with the best first. Misspelt words come
 * last; who types a name looks for that name, and the best comes first.
 *
 * @param found the best first.
 */
export function inOrder<R extends Ranked>(found: readonly R[], text: string): readonly R[] {
  if (NAME.test(text)) return found;
  const words = text.toLowerCase().split(/\s+/);
  const placeOf = ({ group, terms }: R) => {
    const place = ORDER.indexOf(group);
    const isMisspelt = !terms.every((term) => words.some((word) => term.startsWith(word)));
    return isMisspelt ? ORDER.length + 1 : place < 0 ? ORDER.length : place;
  };
  return [...found].sort((one, other) => placeOf(one) - placeOf(other));
}
