import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';

const ROW_PIXELS = 53;
/** Rows beyond the edges of the screen. */
const OVERSCAN = 20;

/**
 * The body of a long table: only rows near the screen are in the page. A table with thousands of rows is laid out again
 * as a whole when it grows; at 3 000 rows that took 190 ms.
 */
export function WindowedRows({
  count,
  columns,
  render,
}: {
  readonly count: number;
  readonly columns: number;
  /** The row at a place; `measure` is its `ref`, and it has the place as `data-index`. */
  readonly render: (index: number, measure: (row: Element | null) => void) => ReactNode;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (body.current !== null) setTop(body.current.getBoundingClientRect().top + scrollY);
  }, []);
  const rows = useWindowVirtualizer({
    count,
    estimateSize: () => ROW_PIXELS,
    overscan: OVERSCAN,
    scrollMargin: top,
  });
  const shown = rows.getVirtualItems();
  const above = (shown[0]?.start ?? top) - top;
  const below = rows.getTotalSize() - ((shown.at(-1)?.end ?? top) - top);
  return (
    <tbody ref={body} className="card:block">
      <Gap pixels={above} columns={columns} />
      {shown.map(({ index }) => render(index, rows.measureElement))}
      <Gap pixels={below} columns={columns} />
    </tbody>
  );
}

function Gap({ pixels, columns }: { readonly pixels: number; readonly columns: number }) {
  if (pixels <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height: pixels, padding: 0 }} />
    </tr>
  );
}
