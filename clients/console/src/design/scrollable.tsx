import { clsx } from 'clsx';
import type { ReactNode } from 'react';

const CONTAINERS = { table: '@container/table', 'small-table': '@container/small-table' };

/** A region that scrolls sideways, also by keyboard. */
export function Scrollable({
  label,
  container,
  children,
}: {
  readonly label: string;
  /** The name by which styles inside ask for its width. */
  readonly container?: keyof typeof CONTAINERS;
  readonly children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it a keyboard cannot scroll.
    <section aria-label={label} tabIndex={0} className={clsx('overflow-x-auto', container && CONTAINERS[container])}>
      {children}
    </section>
  );
}
