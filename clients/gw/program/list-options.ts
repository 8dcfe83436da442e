/** Rows of a list without `--limit`. */
export const USUAL_ROWS = 50;
/** Rows of the longest list. */
export const MOST_ROWS = 10_000;

const LIMIT = ['--limit <rows>', `how many to list, up to ${MOST_ROWS}; ${USUAL_ROWS} by default`] as const;

/** Skips rows. */
export const OFFSET = ['--offset <rows>', 'how many to skip; 0 by default'] as const;

/** Options of a list that is paged by offset. */
export const BY_OFFSET = [LIMIT, OFFSET] as const;

/** Options of a list, newest first, that is paged by the id of the last row. */
export const BY_ID = [LIMIT, ['--before-id <id>', 'only those older than this one']] as const;
