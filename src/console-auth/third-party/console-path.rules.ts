/** Room for a page's own query. */
export const MAX_CONSOLE_PATH = 400;

/**
 * A path of our own console, query and fragment allowed: one `/` at its beginning, no empty and no dot segments, no
 * backslash, nothing but printable ASCII. Whatever a browser makes of it, it stays on our origin.
 */
export const CONSOLE_PATH =
  /^\/(?:(?!\.{1,2}(?:[/?#]|$))[!-"$-.0->@-[\]-~]+\/)*(?:(?!\.{1,2}(?:[?#]|$))[!-"$-.0->@-[\]-~]+)?(?:[?#][!-[\]-~]*)?$/;

const ANY_ORIGIN = 'https://console.invalid';

/** The path with `error` in its query, in place of one that is there. */
export function withError(path: string, error: string): string {
  const url = new URL(path, ANY_ORIGIN);
  url.searchParams.set('error', error);
  return `${url.pathname}${url.search}${url.hash}`;
}
