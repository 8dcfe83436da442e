import type { Provider } from '../api/queries';

type Instance = Pick<Provider, 'slug' | 'type' | 'name'>;

/** What a key of the selected providers reaches. */
export interface Coverage<P> {
  readonly providers: readonly P[];
  /** Whether the key is a provider type, so that it also covers instances that are added later. */
  readonly isType: boolean;
}

/**
 * The instances that a key covers: the one with that slug, and those of that type which no key names by slug.
 *
 * @param keys all that are selected, this one included.
 */
export function coverageOf<P extends Pick<Instance, 'slug' | 'type'>>(
  key: string,
  keys: readonly string[],
  all: readonly P[],
  types: readonly string[],
): Coverage<P> {
  const isType = types.includes(key) || all.some(({ type }) => type === key);
  const providers = all.filter(({ slug, type }) => slug === key || (type === key && !keys.includes(slug)));
  return { providers, isType };
}

/** Such as `Covers OpenAI (openai) and Backup (openai-2), and every openai provider that is added later.` */
export function coverageText(key: string, { providers, isType }: Coverage<Instance>): string {
  const names = providers.map(({ name, slug }) => (name === slug ? slug : `${name} (${slug})`));
  const later = `every provider of the type ${key} that is added later`;
  if (names.length === 0)
    return isType ? `Covers no provider now; it will cover ${later}.` : 'Covers nothing: its provider is deleted.';
  return `Covers ${inWords(names)}${isType ? `, and ${later} without its own entry` : ''}.`;
}

function inWords(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
