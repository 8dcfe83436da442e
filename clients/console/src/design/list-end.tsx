import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { Button } from './button';

/** The next page is requested this far before it becomes visible. */
const AHEAD = '600px';

type Pages = Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;

/**
 * The end of the loaded part of an endless list: the button loads more, and so does scrolling to it, but only if
 * nothing is below, which could not be reached otherwise.
 */
export function ListEnd({ pages, note }: { readonly pages: Pages; readonly note?: string }) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  const end = useRef<HTMLDivElement>(null);
  const canLoad = hasNextPage && !isFetchingNextPage;
  useEffect(() => {
    if (!canLoad || end.current === null) return undefined;
    const observer = new IntersectionObserver(
      ([entry]) => {
        // A list that fills less than a screen waits for the button.
        if (entry?.isIntersecting && scrollY > 0 && isLast(entry.target)) void fetchNextPage();
      },
      { rootMargin: AHEAD },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [canLoad, fetchNextPage]);
  if (!hasNextPage) return null;
  return (
    <div ref={end} className="mt-4 flex items-center justify-center gap-3 text-sm text-muted">
      {note}
      <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        Show more
      </Button>
    </div>
  );
}

function isLast(end: Element): boolean {
  const range = document.createRange();
  for (let at: Element | null = end; at !== null && at.id !== 'content'; at = at.parentElement) {
    for (let next = at.nextElementSibling; next !== null; next = next.nextElementSibling) {
      range.selectNode(next);
      if (range.getBoundingClientRect().height > 0) return false;
    }
  }
  return true;
}
