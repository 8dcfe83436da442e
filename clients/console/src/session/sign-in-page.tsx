import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, Redirect, useLocation } from 'wouter';
import { useSearch } from 'wouter/use-browser-location';
import { problemAt } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { queries } from '../api/queries';
import { Button } from '../design/button';
import { TextField } from '../design/field';
import { Alert, ErrorAlert } from '../design/layout';
import { Loaded } from '../design/loaded';
import { GoogleButton } from './google-button';
import { ownPath } from './own-path.rules';
import { PasskeyButton } from './passkey-button';
import { Frame } from './signed-out-frame';

/** Why a third-party sign-in returned here. */
const REFUSALS: Readonly<Record<string, string>> = {
  registration_disabled: 'Registration is closed. Ask an owner for an invitation.',
  account_exists: 'This e-mail address is registered with a password. Sign in with it.',
  access_denied: 'The sign-in was cancelled.',
  sign_in_failed: 'The sign-in failed. Try again.',
};

/** The sign-in page; before anyone has registered in the deployment, the registration page. */
export function SignInPage() {
  const query = useQuery(queries.capabilities());
  const refusal = REFUSALS[new URLSearchParams(useSearch()).get('error') ?? ''];
  // Nobody can sign in yet, but a refused third-party sign-in is reported here first.
  if (query.data?.awaitsFirstPerson === true && refusal === undefined) return <Redirect to="/signup" replace />;
  return (
    <Frame title={query.data === undefined ? 'Gateway' : 'Sign in'}>
      <Loaded query={query} rows={6}>
        {(capabilities) => <SignInForm capabilities={capabilities} refusal={refusal} />}
      </Loaded>
    </Frame>
  );
}

function SignInForm({
  capabilities,
  refusal,
}: {
  readonly capabilities: Schemas['CapabilitiesResponse'];
  readonly refusal: string | undefined;
}) {
  const next = ownPath(new URLSearchParams(useSearch()).get('next'));
  const hasEnded = new URLSearchParams(useSearch()).has('ended');
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const signIn = async (by: () => Promise<unknown>) => {
    setBusy(true);
    setError(undefined);
    try {
      await by();
      client.clear();
      navigate(next);
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  const problem = problemAt(error, 'email') ?? problemAt(error, 'password');
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void signIn(() => read(api.POST('/v1/auth/sign-in/email', { body: { email, password } })));
      }}
    >
      {refusal !== undefined && error === undefined && <Alert>{refusal}</Alert>}
      {hasEnded && error === undefined && <Alert tone="warn">Your session has ended. Sign in again.</Alert>}
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
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={setPassword}
        error={problemAt(error, 'password')}
      />
      {error !== undefined && problem === undefined && <ErrorAlert error={error} />}
      <Button look="primary" type="submit" isBusy={isBusy}>
        Sign in
      </Button>
      <Link href="/recover" className="text-sm text-accent underline">
        Lost your password?
      </Link>
      {capabilities.passkeys && <PasskeyButton isBusy={isBusy} onSignIn={(by) => void signIn(by)} />}
      {capabilities.googleAuth && <GoogleButton next={next} />}
      {capabilities.registrationOpen ? (
        <p className="text-sm text-muted">
          No account yet?{' '}
          <Link href="/signup" className="text-accent underline">
            Create one
          </Link>
        </p>
      ) : (
        <p className="text-sm text-muted">New here? Ask an owner for an invitation.</p>
      )}
    </form>
  );
}
