import { clsx } from 'clsx';
import { ArrowDown, ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { Scrollable } from './scrollable';

export interface Column<T> {
  readonly key: string;
  readonly header: string;
  readonly cell: (row: T) => ReactNode;
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
  /** Hidden on narrow screens. */
  readonly isDetail?: boolean;
  readonly isSortable?: boolean;
}

export interface Sorting {
  readonly key: string;
  readonly isDescending: boolean;
}

interface TableProps<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
  readonly sorting?: Sorting;
  readonly onSort?: (sorting: Sorting) => void;
}

export function Table<T>({ caption, columns, rows, rowKey, sorting, onSort }: TableProps<T>) {
  return (
    <Scrollable label={caption}>
      <table className="w-full border-collapse text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b border-line text-left text-xs text-muted">
            {columns.map((column) => (
              <HeaderCell key={column.key} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className="border-b border-line last:border-0 hover:bg-hover">
              {columns.map(({ key, cell, isNumber, isDetail }) => (
                <td
                  key={key}
                  className={clsx('px-4 py-2.5 align-middle', isNumber && 'text-right', isDetail && 'max-md:hidden')}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}

function HeaderCell<T>({
  column: { key, header, isNumber, isDetail, isSortable },
  sorting,
  onSort,
}: {
  readonly column: Column<T>;
  readonly sorting: Sorting | undefined;
  readonly onSort: ((sorting: Sorting) => void) | undefined;
}) {
  const isSorted = sorting?.key === key;
  const order = sorting?.isDescending ? 'descending' : 'ascending';
  return (
    <th
      scope="col"
      aria-sort={isSorted ? order : undefined}
      className={clsx('px-4 py-2 font-medium', isNumber && 'text-right', isDetail && 'max-md:hidden')}
    >
      {isSortable && onSort !== undefined ? (
        <button
          type="button"
          className="inline-flex items-center gap-1 hover:text-ink"
          onClick={() => onSort({ key, isDescending: isSorted ? !sorting.isDescending : isNumber === true })}
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
