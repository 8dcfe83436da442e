import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { Dialog } from '../design/dialog';
import { ErrorAlert } from '../design/layout';
import { useToast } from '../design/toast';
import { useReadOnlyReason } from '../shell/session';

type User = Pick<Schemas['UserResponse'], 'id' | 'status'>;

/** Blocks a user, after a confirmation, or unblocks them. */
export function BlockButton({ app, user: { id, status } }: { readonly app: string; readonly user: User }) {
  const reason = useReadOnlyReason();
  const client = useQueryClient();
  const say = useToast();
  const [isAsking, setAsking] = useState(false);
  const { run, error, isBusy } = useSubmit();
  const isBlocked = status === 'blocked';
  const label = isBlocked ? 'Unblock' : 'Block';
  const params = { path: { app }, query: { user_id: id } };
  const refresh = () => client.invalidateQueries({ queryKey: ['app', app, 'users'] });
  const block = () =>
    run(async () => {
      await read(api.POST('/v1/admin/apps/{app}/user/block', { params }));
      say(`${id} is blocked.`);
      setAsking(false);
      await refresh();
    });
  const unblock = async () => {
    await read(api.POST('/v1/admin/apps/{app}/user/unblock', { params })).then(
      () => say(`${id} is no longer blocked.`),
      (thrown) => say(messageOf(thrown)),
    );
    await refresh();
  };
  return (
    <>
      <Button
        size="sm"
        reason={reason}
        aria-label={`${label} ${id}`}
        onClick={() => (isBlocked ? void unblock() : setAsking(true))}
      >
        {label}
      </Button>
      <Dialog
        title={`Block ${id}?`}
        lead="Their sign-ins are refused at once, and their calls within ten seconds, until you unblock them. Their usage is kept."
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        guards="nothing"
      >
        {error !== undefined && <ErrorAlert error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={() => setAsking(false)}>Cancel</Button>
          <Button look="danger" isBusy={isBusy} onClick={() => void block()}>
            Block
          </Button>
        </div>
      </Dialog>
    </>
  );
}
