import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { problemAt } from '../api/api-error';
import { api, read } from '../api/client';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { TextField } from '../design/field';
import { ErrorAlert } from '../design/layout';
import { Frame } from './signed-out-frame';

const FIELDS = ['email', 'code', 'newPassword'];

/** A new password with a recovery code. */
export function RecoverPage() {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const { run, error, isBusy } = useSubmit();
  const [email, setEmail] = useState('');
  const [code, setCode] = useState('');
  const [newPassword, setNew] = useState('');
  const recover = () =>
    run(async () => {
      await read(api.POST('/v1/auth/recover', { body: { email, code, newPassword } }));
      client.clear();
      navigate('/');
    });
  return (
    <Frame
      title="Lost your password?"
      lead="Set a new one with a recovery code. Without one, ask an owner of your organization for a link."
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void recover();
        }}
      >
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={setEmail}
          error={problemAt(error, 'email')}
        />
        <TextField
          label="Recovery code"
          autoComplete="one-time-code"
          spellCheck={false}
          required
          value={code}
          onChange={setCode}
          error={problemAt(error, 'code')}
        />
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
        {error !== undefined && problemAt(error, ...FIELDS) === undefined && <ErrorAlert error={error} />}
        <Button look="primary" type="submit" isBusy={isBusy}>
          Set the password and sign in
        </Button>
        <Link href="/login" className="text-sm text-accent underline">
          Back to the sign-in
        </Link>
      </form>
    </Frame>
  );
}
