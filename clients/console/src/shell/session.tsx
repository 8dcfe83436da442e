import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect } from 'react';
import { queries, type Session } from '../api/queries';
import { Loaded } from '../design/loaded';
import { forgetPeople } from '../session/kept';

const SessionContext = createContext<Session | undefined>(undefined);

/** Shows its content to a signed-in person; the query client redirects everyone else to the sign-in page. */
export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const query = useQuery(queries.session());
  const personId = query.data?.user.id;
  // Someone else whose session expired may have worked here.
  useEffect(() => {
    if (personId !== undefined) forgetPeople(personId);
  }, [personId]);
  if (query.data !== undefined) return <SessionContext value={query.data}>{children}</SessionContext>;
  return (
    <main className="mx-auto max-w-3xl p-8">
      <h1 className="text-2xl font-semibold tracking-tight">Gateway</h1>
      <Loaded query={query} rows={8} children={() => null} />
    </main>
  );
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('No session around this.');
  return session;
}

/** Why the viewer cannot change anything here; undefined for those who can. */
export function useReadOnlyReason(): string | undefined {
  const { role } = useSession();
  if (role === 'owner' || role === 'admin') return undefined;
  return role === null
    ? 'You belong to no organization.'
    : 'You are a member and have read-only access. An owner or admin can change this.';
}
