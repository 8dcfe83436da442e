import { api, read } from '../api/client';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { ErrorAlert } from '../design/layout';

/** Goes to Google and returns to `next`. */
export function GoogleButton({ next, invitationToken }: { readonly next: string; readonly invitationToken?: string }) {
  const { run, error, isBusy } = useSubmit();
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
  return (
    <>
      {error !== undefined && <ErrorAlert error={error} />}
      <Button isBusy={isBusy} onClick={() => void run(leave)}>
        Continue with Google
      </Button>
    </>
  );
}
