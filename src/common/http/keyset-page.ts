/**
 * The cursor of the next page of a list in descending order.
 *
 * @param rows the page; row ids as Postgres writes them.
 * @param limit the page size.
 * @returns null when the page was not full: there are no older rows.
 * Source: docs/reference/management-api.md#query-parameters-and-lists, docs/reference/management-api.md#usage-reports.
 */
export function nextBeforeId(rows: readonly { readonly id: string }[], limit: number): number | null {
  const last = rows.at(-1);
  return last !== undefined && rows.length === limit ? Number(last.id) : null;
}
