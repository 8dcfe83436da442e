/**
 * Control characters, bidirectional embeddings, overrides and isolates, and zero-width characters that join nothing: a
 * name with one of them can look like another. The joiners of scripts and emoji are allowed.
 */
const MISLEADING = /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/u;
const MISLEADING_RUNS = new RegExp(`${MISLEADING.source}+`, 'gu');

/** The problem of a refused name. */
export const MISLEADING_NAME = 'must not have control, direction or invisible characters';

/**
 * Whether a text may be a name that people read: of an application, account, key, label, provider, person or client.
 *
 * Source: docs/reference/management-api.md#names; Unicode Technical Report 36, 2.2 (bidirectional text) and 3.
 */
export function isDisplayName(text: string): boolean {
  return !MISLEADING.test(text);
}

/** The name that a third party gives, with blanks in place of what `isDisplayName` refuses. */
export function toDisplayName(text: string): string {
  return text.replaceAll(MISLEADING_RUNS, ' ').trim();
}
