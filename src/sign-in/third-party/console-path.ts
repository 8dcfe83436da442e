import { Text } from '../../common/fields/fields.js';

/** In characters; leaves space for a page's own query. */
const MAX_CONSOLE_PATH = 400;

/**
 * A path of the console with optional query and fragment: one leading `/`, no empty segments, no dot segments, no
 * backslash, printable ASCII only. A browser resolves it to the console's origin in every case.
 */
export const CONSOLE_PATH =
  /^\/(?:(?!\.{1,2}(?:[/?#]|$))[!-"$-.0->@-[\]-~]+\/)*(?:(?!\.{1,2}(?:[?#]|$))[!-"$-.0->@-[\]-~]+)?(?:[?#][!-[\]-~]*)?$/;

const ANY_ORIGIN = 'https://console.invalid';

/** The path with the query parameter `error`; replaces an existing one. */
export function withError(path: string, error: string): string {
  const url = new URL(path, ANY_ORIGIN);
  url.searchParams.set('error', error);
  return `${url.pathname}${url.search}${url.hash}`;
}

/** A path of the console, in a body. */
export function ConsolePath({ description }: { readonly description: string }): PropertyDecorator {
  return Text({
    max: MAX_CONSOLE_PATH,
    pattern: CONSOLE_PATH,
    patternText: `a path of the console of at most ${MAX_CONSOLE_PATH} characters, such as /apps`,
    optional: true,
    description,
  });
}
