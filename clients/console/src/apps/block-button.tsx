import { useQueryClient } from '@tanstack/react-query';
import { messageOf } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { Button } from '../design/button';
import { useToast } from '../design/toast';
import { useReadOnlyReason } from '../shell/session';

type User = Pick<Schemas['UserResponse'], 'id' | 'status'>;

/** Blocks or unblocks a user. */
export function BlockButton({ app, user: { id, status } }: { readonly app: string; readonly user: User }) {
  const reason = useReadOnlyReason();
  const client = useQueryClient();
  const say = useToast();
  const isBlocked = status === 'blocked';
  const label = isBlocked ? 'Unblock' : 'Block';
  const toggle = async () => {
    const params = { path: { app }, query: { user_id: id } };
    try {
      if (isBlocked) await read(api.POST('/v1/admin/apps/{app}/user/unblock', { params }));
      else await read(api.POST('/v1/admin/apps/{app}/user/block', { params }));
      say(`${id} is ${isBlocked ? 'no longer blocked' : 'blocked; use the same button to unblock'}.`);
    } catch (thrown) {
      say(messageOf(thrown));
    }
    await client.invalidateQueries({ queryKey: ['app', app, 'users'] });
  };
  return (
    <Button size="sm" reason={reason} aria-label={`${label} ${id}`} onClick={() => void toggle()}>
      {label}
    </Button>
  );
}
