import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import { messageOf } from '../api/api-error';
import { queries, type Session } from '../api/queries';
import { Alert, Skeleton } from '../design/layout';

const SessionContext = createContext<Session | undefined>(undefined);

/** Shows its content to a person who is signed in; the query client sends everybody else to the sign-in. */
export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const { data, error } = useQuery(queries.session());
  if (data !== undefined) return <SessionContext value={data}>{children}</SessionContext>;
  return (
    <main className="mx-auto max-w-3xl p-8">
      {error === null ? <Skeleton rows={8} /> : <Alert>{messageOf(error)}</Alert>}
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
