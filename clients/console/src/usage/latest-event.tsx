import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, read } from '../api/client';
import { countText, moneyText } from '../design/amounts.rules';
import { Loaded } from '../design/loaded';
import type { UsageEvent } from './status-badges';

const POLL_MS = 500;
/** An event is stored within a second of its call; after this many attempts it will not arrive. */
const MOST_POLLS = 20;
/** Enough to find the event of a call, also with concurrent calls. */
const NEWEST = 20;

/** The newest event of an application, optionally with a status; null without one. */
export async function newestEvent(app: string, status?: UsageEvent['status']): Promise<UsageEvent | null> {
  const params = { path: { app }, query: { limit: 1, ...(status === undefined ? {} : { status }) } };
  const { events } = await read(api.GET('/v1/admin/apps/{app}/events', { params }));
  return events[0] ?? null;
}

type Find = (events: readonly UsageEvent[]) => UsageEvent | undefined;

/** One of the newest events of an application, as soon as it is recorded; null if it does not appear. */
async function eventFound(app: string, find: Find, signal: AbortSignal): Promise<UsageEvent | null> {
  const params = { path: { app }, query: { limit: NEWEST } };
  for (let polls = 0; polls < MOST_POLLS && !signal.aborted; polls++) {
    const { events } = await read(api.GET('/v1/admin/apps/{app}/events', { params }));
    const found = find(events);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return null;
}

/** The recorded event of a call. */
export function LatestEvent({
  app,
  name,
  find,
}: {
  readonly app: string;
  /** Distinguishes this event from others that are awaited. */
  readonly name: string;
  readonly find: Find;
}) {
  const query = useQuery({
    queryKey: ['app', app, 'latest event', name],
    queryFn: ({ signal }) => eventFound(app, find, signal),
    // A later call with the same name is queried again.
    ...{ staleTime: 0, gcTime: 0 },
  });
  return (
    <div role="status">
      <Loaded query={query} rows={2}>
        {(event) => (event === null ? <NotRecorded app={app} /> : <Recorded event={event} />)}
      </Loaded>
    </div>
  );
}

function NotRecorded({ app }: { readonly app: string }) {
  return (
    <p className="text-sm text-muted">
      Not recorded as a separate event: calls without a valid key or token leave none, and refusals for one reason are
      counted in one event a minute. See{' '}
      <Link href={`/apps/${app}/usage`} className="text-accent underline">
        Usage
      </Link>
      .
    </p>
  );
}

function Recorded({ event }: { readonly event: UsageEvent }) {
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 rounded-md border border-line p-3 text-sm">
      <dt className="text-muted">Recorded as</dt>
      <dd>
        event {event.id}, {event.status}
      </dd>
      <dt className="text-muted">Model</dt>
      <dd className="break-all">{event.model}</dd>
      <dt className="text-muted">Tokens</dt>
      <dd>
        {countText(event.input_tokens)} in, {countText(event.output_tokens)} out
      </dd>
      <dt className="text-muted">Cost</dt>
      <dd>
        {moneyText(event.cost_usd)} {event.cost_source !== null && `(${event.cost_source})`}
      </dd>
    </dl>
  );
}
