import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, read, type Schemas } from '../api/client';
import { countText, durationText } from '../design/amounts.rules';
import { DocumentationLink } from '../design/documentation';
import { Badge, Card, EmptyState, Figure, Figures } from '../design/layout';
import { ListEnd } from '../design/list-end';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { Time } from '../design/time';
import { wordOf } from '../design/words.rules';
import { useAppDraft } from './app-draft';
import { EnforcementCard, ProofFunnel } from './proof-funnel';

type AuthEvent = Schemas['AuthEventResponse'];

const DAYS = 30;
const PAGE = 50;

const TONES: Readonly<Record<string, 'good' | 'warn'>> = { ok: 'good', would_reject: 'warn' };

const COLUMNS: readonly Column<AuthEvent>[] = [
  { key: 'at', header: 'Time', cell: ({ created_at: at }) => <Time at={at} /> },
  { key: 'event', header: 'Attempt', cell: ({ event }) => (event === 'register' ? 'Register device' : 'Get a token') },
  {
    key: 'outcome',
    header: 'Outcome',
    cell: ({ outcome, reason }) => (
      <span className="flex flex-wrap items-center gap-1.5">
        <Badge tone={TONES[outcome] ?? 'bad'}>{outcome === 'ok' ? 'Succeeded' : wordOf(outcome)}</Badge>
        {reason !== null && (
          <span className="text-xs text-muted">
            <DocumentationLink to={`/docs/reasons#${reason}`}>{wordOf(reason)}</DocumentationLink>
          </span>
        )}
      </span>
    ),
  },
  {
    key: 'user',
    header: 'User',
    isDetail: true,
    cell: ({ user_id: user }) => <code className="block max-w-48 truncate text-xs">{user ?? '—'}</code>,
  },
  {
    key: 'latency',
    header: 'Duration',
    isNumber: true,
    isDetail: true,
    cell: ({ latency_ms: ms }) => (ms === null ? '—' : durationText(ms)),
  },
];

export function AuthEventsTab() {
  const { id, draft } = useAppDraft();
  const summary = useQuery({
    queryKey: ['app', id, 'auth summary'],
    queryFn: () =>
      read(
        api.GET('/v1/admin/apps/{app}/auth-events/summary', { params: { path: { app: id }, query: { days: DAYS } } }),
      ),
  });
  return (
    <>
      <Loaded query={summary} rows={2}>
        {(shown) => <Summary summary={shown} />}
      </Loaded>
      <div className="mb-6 flex flex-col gap-6 empty:hidden">
        {summary.data?.proofs !== undefined && <ProofFunnel steps={summary.data.proofs} days={DAYS} />}
        {draft.config.authentication.type === 'device_proofs' && <EnforcementCard app={id} days={DAYS} />}
      </div>
      <AuthEventList app={id} />
    </>
  );
}

/** Attempts to register devices and to get tokens. @param user only of this one. */
export function AuthEventList({ app, user }: { readonly app: string; readonly user?: string }) {
  const ofUser = user === undefined ? {} : { user };
  const pages = useInfiniteQuery({
    queryKey: ['app', app, 'auth events', ofUser],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/v1/admin/apps/{app}/auth-events', {
          params: {
            path: { app },
            query: { limit: PAGE, ...ofUser, ...(pageParam === undefined ? {} : { before_id: pageParam }) },
          },
        }),
      ),
    getNextPageParam: ({ next_before_id: next }) => next ?? undefined,
  });
  return (
    <>
      <Card
        title={user === undefined ? 'Attempts' : 'Sign-ins'}
        lead="Device registrations and token requests, newest first."
        isFlush
      >
        <Loaded query={pages} rows={6}>
          {(data) => <Attempts events={data.pages.flatMap((page) => page.events)} isOfUser={user !== undefined} />}
        </Loaded>
      </Card>
      <ListEnd pages={pages} />
    </>
  );
}

function Attempts({ events, isOfUser }: { readonly events: readonly AuthEvent[]; readonly isOfUser: boolean }) {
  if (events.length > 0) {
    const keyOf = (event: AuthEvent) => String(event.id);
    return <Table caption="Authentication attempts" columns={COLUMNS} rows={events} rowKey={keyOf} />;
  }
  return (
    <EmptyState title={isOfUser ? 'No sign-ins of this user' : 'No sign-ins yet'}>
      Attempts appear here within a second, failed ones with their cause.
    </EmptyState>
  );
}

function Summary({ summary }: { readonly summary: Schemas['AuthEventSummaryResponse'] }) {
  const { token_exchange: tokens, claim_delay: delay, pending_users: pending, usage_failures: failures } = summary;
  const failed = failures.reduce((sum, { count }) => sum + count, 0);
  return (
    <Figures>
      <Figure
        label="Token requests that succeeded"
        value={tokens.success_rate === null ? '—' : `${(tokens.success_rate * 100).toFixed(1)}%`}
        note={`${countText(tokens.ok)} of ${countText(tokens.total)} in ${DAYS} days`}
      />
      <Figure label="Refused or failed calls" value={countText(failed)} note={`in ${DAYS} days`} />
      <Figure
        label="Subscription to token"
        value={delay.p50_ms === null ? '—' : durationText(delay.p50_ms)}
        note={delay.p95_ms === null ? 'no waits' : `95% within ${durationText(delay.p95_ms)}`}
      />
      <Figure label="Waiting for a claim" value={countText(pending)} note="users without their subscription yet" />
    </Figures>
  );
}
