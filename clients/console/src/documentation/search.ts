import MiniSearch from 'minisearch';
import { SEARCH_INDEX } from './search-index';
import { inOrder } from './search-order.rules';

/** A section of a document, or a row of a table that has its own name. */
export interface Found {
  readonly address: string;
  readonly title: string;
  readonly page: string;
}

const MOST_SHOWN = 20;
let loaded: Promise<MiniSearch<Found>> | undefined;

/** The sections that contain all words, or words that start with them, guides first. */
export async function find(text: string, index: string): Promise<readonly Found[]> {
  loaded ??= load(index);
  try {
    const search = await loaded;
    const found = search.search(text).map((one) => ({ ...one, group: String(one.group) }));
    return inOrder(found, text).slice(0, MOST_SHOWN).map(asFound);
  } catch (error) {
    loaded = undefined;
    throw error;
  }
}

async function load(index: string): Promise<MiniSearch<Found>> {
  const answer = await fetch(index);
  if (!answer.ok) throw new Error(`The index of the search answered ${answer.status}.`);
  return await MiniSearch.loadJSONAsync<Found>(await answer.text(), {
    ...SEARCH_INDEX,
    searchOptions: {
      prefix: true,
      combineWith: 'AND',
      boost: { title: 4, page: 2 },
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
    },
  });
}

function asFound({ address, title, page }: Record<string, unknown>): Found {
  return { address: String(address), title: String(title), page: String(page) };
}
