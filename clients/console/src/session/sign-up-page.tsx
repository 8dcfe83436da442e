import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { problemAt } from '../api/api-error';
import { api, read } from '../api/client';
import { queries } from '../api/queries';
import { Button } from '../design/button';
import { TextField } from '../design/field';
import { ErrorAlert } from '../design/layout';
import { Loaded } from '../design/loaded';
import { GoogleButton } from './google-button';
import { Frame } from './signed-out-frame';

const LEAD = 'The first person to register owns the deployment.';

export function SignUpPage() {
  const query = useQuery(queries.capabilities());
  const { data: capabilities } = query;
  if (capabilities === undefined) {
    return <Frame title="Create account" children={<Loaded query={query} children={() => null} />} />;
  }
  if (!capabilities.registrationOpen) {
    return (
      <Frame title="Registration is closed" lead="Someone has already registered. Ask an owner for an invitation.">
        <Link href="/login" className="text-accent underline">
          Sign in
        </Link>
      </Frame>
    );
  }
  return (
    <Frame title="Create account" {...(capabilities.awaitsFirstPerson ? { lead: LEAD } : {})}>
      <SignUpForm next="/start" />
      {capabilities.googleAuth && <GoogleButton next="/start" />}
      <Terms {...capabilities} />
      {!capabilities.awaitsFirstPerson && (
        <p className="mt-4 text-sm text-muted">
          Already registered?{' '}
          <Link href="/login" className="text-accent underline">
            Sign in
          </Link>
        </p>
      )}
    </Frame>
  );
}

/** Registers a person; with an invitation, as a member of its organization. */
export function SignUpForm({
  next,
  invitationToken,
  email: invited,
  onDone,
}: {
  readonly next: string;
  readonly invitationToken?: string;
  readonly email?: string | null;
  readonly onDone?: () => void;
}) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [email, setEmail] = useState(invited ?? '');
  const [password, setPassword] = useState('');
  const [bootstrapKey, setBootstrapKey] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const register = async () => {
    setBusy(true);
    setError(undefined);
    const body = {
      ...{ name, email, password },
      ...(invitationToken === undefined ? {} : { invitationToken }),
      ...(bootstrapKey === '' ? {} : { bootstrapKey }),
    };
    try {
      await read(api.POST('/v1/auth/sign-up/email', { body }));
      onDone?.();
      client.clear();
      navigate(next);
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  const isAtField = ['name', 'email', 'password', 'bootstrapKey'].some(
    (field) => problemAt(error, field) !== undefined,
  );
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void register();
      }}
    >
      <TextField
        label="Your name"
        autoComplete="name"
        required
        value={name}
        onChange={setName}
        error={problemAt(error, 'name')}
      />
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
        autoComplete="new-password"
        required
        minLength={8}
        hint="At least 8 characters."
        value={password}
        onChange={setPassword}
        error={problemAt(error, 'password')}
      />
      {invitationToken === undefined && (
        <details className="text-sm">
          <summary className="text-muted">I started the gateway with a bootstrap key</summary>
          <TextField
            label="Bootstrap key"
            hint="The person who registers with it owns the account that it opened."
            className="mt-3"
            value={bootstrapKey}
            onChange={setBootstrapKey}
            autoComplete="off"
            error={problemAt(error, 'bootstrapKey')}
          />
        </details>
      )}
      {error !== undefined && !isAtField && <ErrorAlert error={error} />}
      <Button look="primary" type="submit" isBusy={isBusy}>
        Create account
      </Button>
    </form>
  );
}

function Terms({
  termsOfServiceUrl,
  privacyPolicyUrl,
}: {
  readonly termsOfServiceUrl?: string;
  readonly privacyPolicyUrl?: string;
}) {
  if (termsOfServiceUrl === undefined || privacyPolicyUrl === undefined) return null;
  return (
    <p className="mt-4 text-xs text-muted">
      By registering you accept the{' '}
      <a className="underline" href={termsOfServiceUrl}>
        terms of service
      </a>{' '}
      and the{' '}
      <a className="underline" href={privacyPolicyUrl}>
        privacy policy
      </a>
      .
    </p>
  );
}
