import { infiniteQueryOptions, QueryClient } from '@tanstack/react-query';
import { ApiError } from './api-error';
import { api, read, type Schemas } from './client';
import type { operations } from './schema';

const MAX_RETRIES = 3;
export const APPS_AT_ONCE = 50;
const STALE_MS = 15_000;
const RETRY_MS = 1_000;

/** The cache of all queries. Temporary failures are retried after the delay that the response names. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        // The browser's online state says nothing about a gateway on this machine; a request does.
        networkMode: 'always',
        refetchOnReconnect: true,
        retry: (failures, error) => error instanceof ApiError && error.isTemporary && failures < MAX_RETRIES,
        retryDelay: (failures, error) =>
          error instanceof ApiError && error.retryAfterSeconds !== undefined
            ? error.retryAfterSeconds * 1_000
            : RETRY_MS * 2 ** failures,
      },
    },
  });
}

export type AppFilter = NonNullable<operations['listApps']['parameters']['query']>;

/** The first page of the list of applications. */
export const DEAREST_APPS = { sort: 'cost', order: 'desc' } as const satisfies AppFilter;

/** Queries that several pages use, each with its cache key. */
export const queries = {
  capabilities: () => ({
    queryKey: ['capabilities'],
    queryFn: () => read(api.GET('/v1/console/capabilities')),
    staleTime: Number.POSITIVE_INFINITY,
  }),
  session: () => ({
    queryKey: ['session'],
    queryFn: async () => (await read(api.GET('/v1/admin/session'))).session,
  }),
  apps: (filter: AppFilter = {}) => ({
    queryKey: ['apps', filter],
    queryFn: () => read(api.GET('/v1/admin/apps', { params: { query: filter } })),
  }),
  /** The list of applications, page by page. */
  appPages: (filter: AppFilter) =>
    infiniteQueryOptions({
      queryKey: ['apps', 'pages', filter],
      initialPageParam: 0,
      queryFn: ({ pageParam: offset }) => queries.apps({ ...filter, offset, limit: APPS_AT_ONCE }).queryFn(),
      getNextPageParam: ({ total }, pages) =>
        pages.length * APPS_AT_ONCE < total ? pages.length * APPS_AT_ONCE : undefined,
    }),
  /** Whether there are applications and calls, without the list of them. */
  account: () => queries.apps({ limit: 1 }),
  /** The line of one application in the list; it is the only one with this id, and null where it is gone. */
  appSummary: (id: string) => ({
    ...queries.apps({ query: id }),
    select: ({ apps }: Schemas['AppListResponse']) => apps.find((app) => app.id === id) ?? null,
  }),
  app: (id: string) => ({
    queryKey: ['app', id],
    queryFn: () => read(api.GET('/v1/admin/apps/{app}', { params: { path: { app: id } } })),
  }),
  appKeys: (id: string) => ({
    queryKey: ['app', id, 'keys'],
    queryFn: async () => (await read(api.GET('/v1/admin/apps/{app}/keys', { params: { path: { app: id } } }))).keys,
  }),
  playCredentials: (id: string) => ({
    queryKey: ['app', id, 'play-integrity'],
    queryFn: async () =>
      (await read(api.GET('/v1/admin/apps/{app}/play-integrity/credentials', { params: { path: { app: id } } })))
        .credentials,
  }),
  appCheck: (id: string) => ({
    queryKey: ['app', id, 'check'],
    queryFn: () => read(api.GET('/v1/admin/apps/{app}/check', { params: { path: { app: id } } })),
  }),
  providers: () => ({
    queryKey: ['providers'],
    queryFn: async () => (await read(api.GET('/v1/admin/providers'))).providers,
  }),
  /**
   * Who uses each provider, and its results; the key starts with that of the providers, so that both are refreshed
   * together.
   */
  providerUsage: () => ({
    queryKey: ['providers', 'usage'],
    queryFn: () => read(api.GET('/v1/admin/providers/usage')),
  }),
  gateways: () => ({
    queryKey: ['gateways'],
    queryFn: async () => (await read(api.GET('/v1/admin/provider-gateways'))).gateways,
  }),
  /** @param day UTC, `YYYY-MM-DD`; today when absent. */
  prices: (day?: string) => ({
    queryKey: ['prices', day],
    queryFn: async () =>
      (await read(api.GET('/v1/admin/prices', { params: { query: day === undefined ? {} : { day } } }))).prices,
    staleTime: Number.POSITIVE_INFINITY,
  }),
  /** The documents under `/docs`, which change with a release only. */
  documents: () => ({
    queryKey: ['documents'],
    queryFn: async (): Promise<readonly Document[]> => (await fetch('/docs/pages.json')).json(),
    staleTime: Number.POSITIVE_INFINITY,
  }),
  attention: () => ({
    queryKey: ['attention'],
    queryFn: async () => (await read(api.GET('/v1/admin/attention'))).items,
  }),
  keys: () => ({
    queryKey: ['keys'],
    queryFn: async () => (await read(api.GET('/v1/admin/keys'))).keys,
  }),
  /** Which events of the organization are mailed to the person, and whether mail is sent at all. */
  mail: () => ({
    queryKey: ['mail'],
    queryFn: async () => (await read(api.GET('/v1/admin/mail'))).mail,
  }),
  /** Every webhook, and every type of event. */
  webhooks: () => ({
    queryKey: ['webhooks'],
    queryFn: () => read(api.GET('/v1/admin/webhooks')),
  }),
  /** The key starts with that of all, so that both are refreshed together. */
  webhook: (id: string) => ({
    queryKey: ['webhooks', id],
    queryFn: async () => (await read(api.GET('/v1/admin/webhooks/{id}', { params: { path: { id } } }))).webhook,
  }),
  members: () => ({
    queryKey: ['members'],
    queryFn: async () => (await read(api.GET('/v1/admin/members'))).members,
  }),
  invitations: () => ({
    queryKey: ['invitations'],
    queryFn: async () => (await read(api.GET('/v1/admin/invitations'))).invitations,
  }),
} as const;

interface Document {
  readonly address: string;
  readonly title: string;
  readonly group: string;
  /** What it is found by besides. */
  readonly words: readonly string[];
}

export type AppSummary = Schemas['AppSummaryResponse'];
export type Provider = Schemas['ProviderResource'];
export type UsedProvider = Schemas['UsedProviderResponse'];
export type Session = Schemas['AdminSessionResource'];
export type Webhook = Schemas['WebhookResource'];
