/** Rows of a list without `--limit`. */
export const USUAL_ROWS = 50;
/** Rows of the longest list. */
export const MOST_ROWS = 10_000;

const LIMIT = ['--limit <rows>', `the first so many, up to ${MOST_ROWS}; ${USUAL_ROWS} when absent`] as const;

/** Skips rows. */
export const OFFSET = ['--offset <rows>', 'how many to skip; 0 when absent'] as const;

/** Options of a list whose pages are found by the number of rows before them. */
export const BY_OFFSET = [LIMIT, OFFSET] as const;

/** Options of a list, newest first, whose pages are found by the id of the row before them. */
export const BY_ID = [LIMIT, ['--before-id <id>', 'only older ones than this one']] as const;
