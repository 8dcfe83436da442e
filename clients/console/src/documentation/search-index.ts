/** The index that `tools/documentation.mjs` writes and `search.ts` reads. */
export const SEARCH_INDEX = {
  idField: 'address',
  fields: ['title', 'page', 'text'],
  storeFields: ['address', 'title', 'page', 'group'],
};
