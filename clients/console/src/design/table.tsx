import { clsx } from 'clsx';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { Scrollable } from './scrollable';
import { WindowedRows } from './windowed-rows';

/** @typeParam Order what its rows may be sorted by. */
export interface Column<T, Order extends string = never> {
  readonly key: string;
  readonly header: string;
  readonly cell: (row: T) => ReactNode;
  /** Numbers are aligned right. */
  readonly isNumber?: boolean;
  /** Important columns, such as the cost and the actions: in a card they are next to the first column. */
  readonly isLead?: boolean;
  /** In a card it comes after the others. */
  readonly isDetail?: boolean;
  /** Absent if rows cannot be sorted by the column. */
  readonly sortKey?: Order;
}

/**
 * In a narrow place (`card` of `styles.css`) a row is a card: the first column and the leads, below them the others,
 * each with its header.
 */
const CARD = clsx(
  'card:flex card:flex-wrap card:items-center card:gap-x-4 card:gap-y-1.5 card:px-4 card:py-3',
  // Ends the line of the first column and the leads.
  "card:after:order-2 card:after:basis-full card:after:content-['']",
);
const CARD_TITLE = 'card:order-1 card:min-w-0 card:flex-1 card:basis-1/2 card:text-left';
const CARD_LEAD = 'card:order-1 card:ml-auto';
const CARD_REST = 'card:inline-flex card:max-w-full card:items-center card:gap-1.5 card:text-left';

/** A table with more columns needs the width of a page. */
const MOST_BESIDE = 3;
/** Longer tables show the rows near the screen only. */
const MOST_WHOLE = 200;

export interface Sorting<Order extends string> {
  readonly key: Order;
  readonly isDescending: boolean;
}

interface TableProps<T, Order extends string> {
  readonly caption: string;
  readonly columns: readonly Column<T, Order>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
  readonly sorting?: Sorting<Order>;
  readonly onSort?: (sorting: Sorting<Order>) => void;
}

export function Table<T, Order extends string = never>({
  caption,
  columns,
  rows,
  rowKey,
  sorting,
  onSort,
}: TableProps<T, Order>) {
  const isLong = rows.length > MOST_WHOLE;
  const cells = columns as readonly Column<unknown>[];
  return (
    <Scrollable label={caption} container={columns.length > MOST_BESIDE ? 'table' : 'small-table'}>
      <table
        className="w-full border-collapse text-sm card:block"
        {...(isLong ? { 'aria-rowcount': rows.length + 1 } : {})}
      >
        <caption className="sr-only">{caption}</caption>
        <thead className="card:block">
          <tr className="border-b border-line text-left text-xs text-muted card:flex card:flex-wrap card:has-[button]:px-2 card:not-has-[button]:border-0">
            {columns.map((column) => (
              <HeaderCell key={column.key} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </tr>
        </thead>
        {isLong ? (
          <WindowedRows
            count={rows.length}
            columns={columns.length}
            render={(index, measure) => {
              const row = rows[index];
              if (row === undefined) return null;
              return <Row key={rowKey(row)} row={row} columns={cells} index={index} measure={measure} />;
            }}
          />
        ) : (
          <tbody className="card:block">
            {rows.map((row) => (
              <Row key={rowKey(row)} row={row} columns={cells} />
            ))}
          </tbody>
        )}
      </table>
    </Scrollable>
  );
}

/** Visible rows are not rendered again when a list grows: pass stable `columns`. */
const Row = memo(function Row({
  row,
  columns,
  index,
  measure,
}: {
  readonly row: unknown;
  readonly columns: readonly Column<unknown>[];
  /** Of a table that is shown in part. */
  readonly index?: number;
  readonly measure?: (row: Element | null) => void;
}) {
  return (
    <tr
      ref={measure}
      {...(index === undefined ? {} : { 'data-index': index, 'aria-rowindex': index + 2 })}
      className={clsx('border-b border-line last:border-0 hover:bg-hover', CARD)}
    >
      {columns.map(({ key, header, cell, isNumber, isLead, isDetail }, place) => {
        const part = place === 0 ? CARD_TITLE : isLead ? CARD_LEAD : CARD_REST;
        const content = cell(row);
        const isEmpty = content === null || content === undefined || content === '';
        return (
          <td
            key={key}
            className={clsx(
              'px-3 py-2.5 align-middle first:pl-4 last:pr-4 card:p-0 card:first:pl-0 card:last:pr-0',
              isNumber && 'text-right',
              part,
              part === CARD_REST && (isDetail ? 'card:order-4' : 'card:order-3'),
              // A card names only what it has.
              isEmpty && 'card:hidden',
            )}
          >
            {part === CARD_REST && (
              <span className="hidden shrink-0 text-xs text-muted card:inline" aria-hidden>
                {header}
              </span>
            )}
            {content}
          </td>
        );
      })}
    </tr>
  );
});

function HeaderCell<T, Order extends string>({
  column: { header, isNumber, sortKey },
  sorting,
  onSort,
}: {
  readonly column: Column<T, Order>;
  readonly sorting: Sorting<Order> | undefined;
  readonly onSort: ((sorting: Sorting<Order>) => void) | undefined;
}) {
  const isSorted = sortKey !== undefined && sorting?.key === sortKey;
  const order = sorting?.isDescending ? 'descending' : 'ascending';
  return (
    <th
      scope="col"
      aria-sort={isSorted ? order : undefined}
      className={clsx(
        'px-3 py-2 font-medium first:pl-4 last:pr-4',
        isNumber && 'text-right card:text-left',
        sortKey === undefined ? 'card:sr-only' : 'card:p-2',
      )}
    >
      {sortKey !== undefined && onSort !== undefined ? (
        <button
          type="button"
          className="inline-flex items-center gap-1 hover:text-ink"
          onClick={() => onSort({ key: sortKey, isDescending: isSorted ? !sorting.isDescending : isNumber === true })}
        >
          {header}
          {isSorted && (sorting.isDescending ? <ArrowDown size={12} /> : <ArrowUp size={12} />)}
        </button>
      ) : (
        header
      )}
    </th>
  );
}
