import { useState } from 'react';
import { Link } from 'wouter';
import { problemAt } from '../api/api-error';
import { api, read } from '../api/client';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { TextField } from '../design/field';
import { Alert, ErrorAlert } from '../design/layout';
import { Frame } from './signed-out-frame';

/** The token of the link, taken out of the address, so that no history keeps it. */
function takeToken(): string {
  const { hash, pathname, search } = location;
  if (hash.length > 1) history.replaceState(null, '', pathname + search);
  return hash.slice(1);
}

/** A new password with a link that an owner created. */
export function ResetPage() {
  const [token] = useState(takeToken);
  const { run, error, isBusy } = useSubmit();
  const [newPassword, setNew] = useState('');
  const [isDone, setDone] = useState(false);
  const reset = () =>
    run(async () => {
      await read(api.POST('/v1/auth/reset-password', { body: { token, newPassword } }));
      setDone(true);
    });
  if (token === '') {
    return (
      <Frame title="New password">
        <Alert>This link is incomplete. Open the full link.</Alert>
      </Frame>
    );
  }
  if (isDone) {
    return (
      <Frame title="New password">
        <div className="flex flex-col gap-4">
          <Alert tone="good">Your password is set, and all your sessions are signed out.</Alert>
          <Link href="/login" className="text-accent underline">
            Sign in
          </Link>
        </div>
      </Frame>
    );
  }
  return (
    <Frame title="New password" lead="The link works once. It signs out all your sessions.">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void reset();
        }}
      >
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          required
          minLength={8}
          value={newPassword}
          onChange={setNew}
          error={problemAt(error, 'newPassword')}
        />
        {error !== undefined && problemAt(error, 'newPassword') === undefined && <ErrorAlert error={error} />}
        <Button look="primary" type="submit" isBusy={isBusy}>
          Set the password
        </Button>
      </form>
    </Frame>
  );
}
