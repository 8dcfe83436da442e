import { notifyManager, type Query, useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { ApiError, messageOf } from '../api/api-error';
import { Button } from './button';
import { Alert } from './layout';
import { isOffline } from './loaded';

const isUnanswered = ({ state }: Query) => isOffline(state.error ?? state.fetchFailureReason);

/** Reports once for the page that the gateway does not respond; a retry repeats all requests. */
export function ConnectionAlert() {
  const client = useQueryClient();
  const cache = client.getQueryCache();
  const isSilent = useSyncExternalStore(
    (onChange) => cache.subscribe(notifyManager.batchCalls(onChange)),
    () => cache.getAll().some((query) => query.isActive() && isUnanswered(query)),
  );
  if (!isSilent) return null;
  const tryAgain = () => {
    const isEmpty = ({ state }: Query) => state.data === undefined;
    // A query without a response waits for its next retry; restarted, it runs immediately, or when it is shown.
    void client.resetQueries({ predicate: (query) => isUnanswered(query) && isEmpty(query) });
    void client.refetchQueries({ predicate: (query) => isUnanswered(query) && !isEmpty(query) });
  };
  return (
    <div className="sticky top-0 z-30 bg-canvas p-2">
      <Alert
        actions={
          <Button size="sm" onClick={tryAgain}>
            Try again
          </Button>
        }
      >
        {messageOf(ApiError.offline())}
      </Alert>
    </div>
  );
}
