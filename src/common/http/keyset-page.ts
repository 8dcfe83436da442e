/**
 * The cursor of the page behind this one, in lists that are newest first.
 *
 * @param rows the page; row ids as Postgres writes them.
 * @param limit the most rows it could have held.
 * @returns null when the page was not full: nothing is older.
 * Source: docs/reference/management-api.md#query-parameters-and-lists, docs/reference/management-api.md#usage-reports.
 */
export function nextBeforeId(rows: readonly { readonly id: string }[], limit: number): number | null {
  const last = rows.at(-1);
  return last !== undefined && rows.length === limit ? Number(last.id) : null;
}
