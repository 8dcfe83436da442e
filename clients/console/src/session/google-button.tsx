import { api, read } from '../api/client';
import { Button } from '../design/button';

/** Leaves for Google and comes back to `next`. */
export function GoogleButton({ next, invitationToken }: { readonly next: string; readonly invitationToken?: string }) {
  const leave = async () => {
    const { url } = await read(
      api.POST('/v1/auth/sign-in/social', {
        body: {
          provider: 'google',
          callbackURL: next,
          errorCallbackURL: '/login',
          disableRedirect: true,
          ...(invitationToken === undefined ? {} : { invitationToken }),
        },
      }),
    );
    location.assign(url);
  };
  return <Button onClick={() => void leave()}>Continue with Google</Button>;
}
