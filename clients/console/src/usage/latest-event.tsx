import { useQuery } from '@tanstack/react-query';
import { api, read } from '../api/client';
import { countText, moneyText } from '../design/amounts.rules';
import { Skeleton } from '../design/layout';

const POLL_MS = 500;

/** The newest event of an application; null without one. */
export async function newestEvent(app: string) {
  const params = { path: { app }, query: { limit: 1 } };
  const { events } = await read(api.GET('/v1/admin/apps/{app}/events', { params }));
  return events[0] ?? null;
}

/** The newest event of an application after another one, as soon as it is recorded. */
export function LatestEvent({ app, afterId }: { readonly app: string; readonly afterId: number }) {
  const { data: event } = useQuery({
    queryKey: ['app', app, 'latest event', afterId],
    queryFn: async () => {
      const newest = await newestEvent(app);
      return newest !== null && newest.id > afterId ? newest : null;
    },
    refetchInterval: ({ state }) => (state.data ? false : POLL_MS),
  });
  if (!event) return <Skeleton rows={2} />;
  return (
    <div role="status">
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
    </div>
  );
}
