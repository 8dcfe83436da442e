import { api } from './api/client';
import { createQueryClient, DEAREST_APPS, queries } from './api/queries';

/** Pages for people who are not signed in. */
const WITHOUT_SESSION: ReadonlySet<string> = new Set(['/login', '/signup', '/invite', '/recover', '/reset']);

export const client = createQueryClient();

/** The session has ended: signs in again, and comes back here. */
function leave(): void {
  const { pathname, search } = location;
  if (WITHOUT_SESSION.has(pathname)) return;
  const wasSignedIn = client.getQueryData(queries.session().queryKey) !== undefined;
  client.clear();
  const next = new URLSearchParams({ next: pathname + search, ...(wasSignedIn ? { ended: '1' } : {}) });
  history.pushState(null, '', `/login?${next}`);
  void client.prefetchQuery(queries.capabilities());
}

api.use({
  onResponse({ response: { status }, schemaPath }) {
    if (schemaPath.startsWith('/v1/auth/')) return;
    if (status === 401) leave();
    // The role may have changed: permissions are read again.
    if (status === 403 && schemaPath !== '/v1/admin/session') {
      void client.invalidateQueries({ queryKey: queries.session().queryKey });
    }
  },
});

/** The first queries of pages whose code takes longer to load than the response. */
const FIRST_READS: Readonly<Record<string, () => Promise<void>>> = {
  '/apps': () => client.prefetchInfiniteQuery(queries.appPages(DEAREST_APPS)),
  '/providers': () => client.prefetchQuery(queries.providers()),
};

/** Starts before the rest of the code is evaluated. */
export const firstReads: Promise<unknown> = WITHOUT_SESSION.has(location.pathname)
  ? client.prefetchQuery(queries.capabilities())
  : Promise.all([
      client.prefetchQuery(queries.session()),
      client.prefetchQuery(queries.account()),
      FIRST_READS[location.pathname]?.(),
    ]);
