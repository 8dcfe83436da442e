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
 * What was asked for, in every state of the question: content, a problem with another try, or a skeleton, which is shown
 * only while an answer is under way. Content that answers an older question cannot be used until the answer is here. That
 * the gateway does not answer at all is said once, by `ConnectionAlert`.
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
  /** Whether the content answers something else than what is asked for now. */
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

/** Whether no answer came at all. */
export function isOffline(problem: unknown): boolean {
  return problem instanceof ApiError && problem.status === 0;
}
