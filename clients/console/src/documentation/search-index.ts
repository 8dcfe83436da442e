/** What `tools/documentation.mjs` writes into the index, and `search.ts` reads from it. */
export const SEARCH_INDEX = {
  idField: 'address',
  fields: ['title', 'page', 'text'],
  storeFields: ['address', 'title', 'page'],
};
