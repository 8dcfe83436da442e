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
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
  /** Hidden on narrow screens. */
  readonly isDetail?: boolean;
  /** Absent where the column cannot be sorted by. */
  readonly sortKey?: Order;
}

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
    <Scrollable label={caption}>
      <table className="w-full border-collapse text-sm" {...(isLong ? { 'aria-rowcount': rows.length + 1 } : {})}>
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b border-line text-left text-xs text-muted">
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
          <tbody>
            {rows.map((row) => (
              <Row key={rowKey(row)} row={row} columns={cells} />
            ))}
          </tbody>
        )}
      </table>
    </Scrollable>
  );
}

/** Rows that are shown stay as they are when a list grows: give `columns` that stay the same. */
const Row = memo(function Row({
  row,
  columns,
  index,
  measure,
}: {
  readonly row: unknown;
  readonly columns: readonly Column<unknown>[];
  /** Of a table of which a part is shown. */
  readonly index?: number;
  readonly measure?: (row: Element | null) => void;
}) {
  return (
    <tr
      ref={measure}
      {...(index === undefined ? {} : { 'data-index': index, 'aria-rowindex': index + 2 })}
      className="border-b border-line last:border-0 hover:bg-hover"
    >
      {columns.map(({ key, cell, isNumber, isDetail }) => (
        <td
          key={key}
          className={clsx('px-4 py-2.5 align-middle', isNumber && 'text-right', isDetail && 'max-md:hidden')}
        >
          {cell(row)}
        </td>
      ))}
    </tr>
  );
});

function HeaderCell<T, Order extends string>({
  column: { header, isNumber, isDetail, sortKey },
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
      className={clsx('px-4 py-2 font-medium', isNumber && 'text-right', isDetail && 'max-md:hidden')}
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
