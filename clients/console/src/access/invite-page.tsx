import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { ApiError } from '../api/api-error';
import { api, read } from '../api/client';
import { queries } from '../api/queries';
import { Button } from '../design/button';
import { Alert, ErrorAlert } from '../design/layout';
import { Loaded } from '../design/loaded';
import { SignUpForm } from '../session/sign-up-page';
import { Frame } from '../session/signed-out-frame';

const STORAGE_KEY = 'invitation';

/** The token of the link, taken out of the address; a reload and a sign-in in between keep it. */
function takeToken(): string | null {
  const { hash, pathname, search } = location;
  if (hash.length > 1) {
    sessionStorage.setItem(STORAGE_KEY, hash.slice(1));
    history.replaceState(null, '', pathname + search);
  }
  return sessionStorage.getItem(STORAGE_KEY);
}

export function InvitePage() {
  const [token] = useState(takeToken);
  const query = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => read(api.POST('/v1/console/invitations/details', { body: { token: token ?? '' } })),
    enabled: token !== null,
    retry: false,
  });
  if (token === null) {
    return (
      <Frame title="Invitation">
        <Alert>This link is incomplete. Open the full link.</Alert>
      </Frame>
    );
  }
  const { data: details } = query;
  if (details === undefined) {
    return <Frame title="Invitation" children={<Loaded query={query} children={() => null} />} />;
  }
  return (
    <Frame title={`Join ${details.organizationName}`} lead={`You are invited as ${details.role}.`}>
      <Acceptance token={token} email={details.email} />
    </Frame>
  );
}

function Acceptance({ token, email }: { readonly token: string; readonly email: string | null }) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [error, setError] = useState<unknown>();
  const query = useQuery({
    queryKey: ['viewer'],
    retry: false,
    queryFn: () =>
      read(api.GET('/v1/admin/session')).catch((thrown: unknown) => {
        if (thrown instanceof ApiError && thrown.isSignedOut) return null;
        throw thrown;
      }),
  });
  const { data: session } = query;
  if (session === undefined) return <Loaded query={query} children={() => null} />;
  if (session === null) {
    return (
      <>
        <SignUpForm
          next="/apps"
          invitationToken={token}
          email={email}
          onDone={() => sessionStorage.removeItem(STORAGE_KEY)}
        />
        <p className="mt-4 text-sm text-muted">
          Already registered?{' '}
          <Link href="/login?next=%2Finvite" className="text-accent underline">
            Sign in
          </Link>
        </p>
      </>
    );
  }
  const accept = async () => {
    setError(undefined);
    try {
      const { organizationId } = await read(api.POST('/v1/console/invitations/accept', { body: { token } }));
      sessionStorage.removeItem(STORAGE_KEY);
      const selected = await read(api.POST('/v1/admin/organizations/select', { body: { organizationId } }));
      client.clear();
      client.setQueryData(queries.session().queryKey, selected.session);
      navigate('/apps');
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <div className="flex flex-col gap-4">
      <p>
        You are signed in as <strong>{session.session.user.email}</strong>.
      </p>
      {error !== undefined && <ErrorAlert error={error} />}
      <Button look="primary" onClick={() => void accept()}>
        Join
      </Button>
    </div>
  );
}
