import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, read } from '../api/client';
import { countText, moneyText } from '../design/amounts.rules';
import { Loaded } from '../design/loaded';
import type { UsageEvent } from './status-badges';

const POLL_MS = 500;
/** An event is stored within a second of its call; what is not there after this many questions does not come. */
const MOST_POLLS = 20;

/** The newest event of an application, with a status if one is named; null without one. */
export async function newestEvent(app: string, status?: UsageEvent['status']): Promise<UsageEvent | null> {
  const params = { path: { app }, query: { limit: 1, ...(status === undefined ? {} : { status }) } };
  const { events } = await read(api.GET('/v1/admin/apps/{app}/events', { params }));
  return events[0] ?? null;
}

/** The event of an application after another one, as soon as it is recorded; null if none comes. */
async function eventAfter(app: string, afterId: number, signal: AbortSignal): Promise<UsageEvent | null> {
  for (let polls = 0; polls < MOST_POLLS && !signal.aborted; polls++) {
    const newest = await newestEvent(app);
    if (newest !== null && newest.id > afterId) return newest;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return null;
}

/** What was recorded of a call that was sent after an event. */
export function LatestEvent({ app, afterId }: { readonly app: string; readonly afterId: number }) {
  const query = useQuery({
    queryKey: ['app', app, 'latest event', afterId],
    queryFn: ({ signal }) => eventAfter(app, afterId, signal),
    // The next call may come after the same event, and is asked about anew.
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
      Not recorded as an event of its own: calls without a valid key or token leave none, and refusals for one reason
      are counted in one event a minute. See{' '}
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
