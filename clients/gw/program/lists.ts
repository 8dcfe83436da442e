import { table } from '../terminal/table.js';
import type { Outcome } from './command.js';
import type { Invocation } from './invocation.js';
import { MOST_ROWS, USUAL_ROWS } from './list-options.js';

/** The most rows that the API returns in one response. */
const PAGE = 200;

/** One page of a list, as the API returns it. */
interface Listed<P> {
  readonly result: P;
  /** The next page; undefined at the end. */
  readonly note: string | undefined;
}

/**
 * `--limit` rows after `--offset`, from as many pages as needed.
 *
 * @param name of the member with the rows.
 * @param usual rows without `--limit`.
 */
export async function readByOffset<K extends string, P extends Record<K, readonly unknown[]> & { total: number }>(
  gw: Invocation,
  name: K,
  read: (query: { limit: number; offset: number }) => Promise<P>,
  usual = USUAL_ROWS,
): Promise<Listed<P>> {
  const limit = limitOf(gw, usual);
  const offset = gw.integer('offset', { min: 0, max: 2 ** 31 - 1 }) ?? 0;
  const rows: unknown[] = [];
  for (;;) {
    const page = await read({ limit: Math.min(PAGE, limit - rows.length), offset: offset + rows.length });
    rows.push(...page[name]);
    const next = offset + rows.length;
    if (page[name].length > 0 && rows.length < limit && next < page.total) continue;
    const asked = { ...('limit' in page && { limit }), ...('offset' in page && { offset }) };
    const note = next < page.total ? `${offset + 1} to ${next} of ${page.total}. More: --offset ${next}` : undefined;
    return { result: { ...page, ...asked, [name]: rows }, note: rows.length === 0 ? undefined : note };
  }
}

interface PageById {
  readonly limit: number;
  readonly next_before_id: number | null;
}

/**
 * `--limit` rows older than `--before-id`, from as many pages as needed.
 *
 * @param name of the member with the rows.
 */
export async function readById<K extends string, P extends PageById & Record<K, readonly unknown[]>>(
  gw: Invocation,
  name: K,
  read: (query: { limit: number; before_id?: number }) => Promise<P>,
): Promise<Listed<P>> {
  const limit = limitOf(gw, USUAL_ROWS);
  let before = gw.integer('beforeId', { min: 1, max: Number.MAX_SAFE_INTEGER });
  const rows: unknown[] = [];
  for (;;) {
    const query = { limit: Math.min(PAGE, limit - rows.length), ...(before !== undefined && { before_id: before }) };
    const page = await read(query);
    rows.push(...page[name]);
    if (page.next_before_id !== null && page[name].length > 0 && rows.length < limit) {
      before = page.next_before_id;
      continue;
    }
    const note = page.next_before_id === null ? undefined : `Older ones: --before-id ${page.next_before_id}`;
    return { result: { ...page, limit, [name]: rows }, note };
  }
}

const limitOf = (gw: Invocation, usual: number) => gw.integer('limit', { min: 1, max: MOST_ROWS }) ?? usual;

/** How a list is shown to people. */
interface Shown {
  readonly headings: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
  /** The text of an empty list, with the next step. */
  readonly none: string;
  /** Options that filter rows, in camel case. */
  readonly filters?: readonly string[];
  readonly note?: string | undefined;
}

/** The result of a list: a table that fits the terminal, and is not truncated if piped. */
export function listed(
  gw: Pick<Invocation, 'terminal' | 'text'>,
  result: object,
  { headings, rows, none, filters = [], note }: Shown,
): Outcome {
  if (rows.length > 0) {
    return { result, text: table(headings, rows, gw.terminal.columns), ...(note !== undefined && { note }) };
  }
  const isFiltered = filters.some((name) => gw.text(name) !== undefined);
  return { result, text: isFiltered ? 'Nothing matches. Leave out a filter to see more.' : none };
}
