import type { ReactNode } from 'react';
import { ApiError } from '../api/api-error';
import { Button } from './button';
import { ErrorAlert } from './layout';
import { Skeleton } from './skeleton';

/** What a page needs to know of a query. */
interface Asked<T> {
  readonly status: 'pending' | 'error' | 'success';
  readonly fetchStatus: 'fetching' | 'paused' | 'idle';
  readonly data: T | undefined;
  readonly error: unknown;
  readonly failureReason: unknown;
  readonly isPlaceholderData: boolean;
  readonly refetch: () => Promise<unknown>;
}

/**
 * The result of a query in every state: content, an error with a retry, or a skeleton while it loads. Content of an
 * older query is disabled until the response arrives. `ConnectionAlert` reports once that the gateway does not respond.
 */
export function Loaded<T>({
  query: { status, fetchStatus, data, error, failureReason, isPlaceholderData, refetch },
  rows = 3,
  isOld = isPlaceholderData,
  children,
}: {
  readonly query: Asked<T>;
  /** Of the skeleton. */
  readonly rows?: number;
  /** Whether the content belongs to an older query. */
  readonly isOld?: boolean;
  readonly children: (data: T) => ReactNode;
}) {
  const isHere = status === 'success' || data !== undefined;
  const problem = error ?? failureReason;
  const isFetching = fetchStatus === 'fetching';
  const again = (
    <Button size="sm" isBusy={isFetching} onClick={() => void refetch()}>
      Try again
    </Button>
  );
  return (
    <>
      {problem !== null && !isOffline(problem) && <ErrorAlert error={problem} actions={again} />}
      {isHere && (
        <div className={isOld ? 'contents *:opacity-50' : 'contents'} inert={isOld} aria-busy={isOld || undefined}>
          {children(data as T)}
        </div>
      )}
      {!isHere && problem === null && isFetching && <Skeleton rows={rows} />}
      {!isHere && (problem === null ? !isFetching : isOffline(problem)) && (
        <div className="flex flex-wrap items-center gap-3 p-4 text-sm text-muted">
          Not loaded. {problem === null && again}
        </div>
      )}
    </>
  );
}

/** Whether there was no response at all. */
export function isOffline(problem: unknown): boolean {
  return problem instanceof ApiError && problem.status === 0;
}
