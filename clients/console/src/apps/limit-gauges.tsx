import { useQuery } from '@tanstack/react-query';
import { api, read } from '../api/client';
import { queries } from '../api/queries';
import { countText, moneyText } from '../design/amounts.rules';
import { Loaded } from '../design/loaded';
import { lastDays } from '../usage/periods.rules';
import { draftOf, useAppDraft } from './app-draft';
import { Gauge } from './gauge';

const REFRESH_MS = 15_000;

/** How much of the stored budget and daily limit of the application is used; nothing if it has neither. */
export function LimitGauges() {
  const { id, loaded } = useAppDraft();
  const { requests, spending } = draftOf(loaded).config.limits?.per_app ?? {};
  const perDay = requests?.per_day ?? undefined;
  const monthlyUsd = spending?.monthly_usd ?? undefined;
  const summary = useQuery({ ...queries.appSummary(id), enabled: monthlyUsd !== undefined });
  const today = useQuery({
    queryKey: ['app', id, 'requests today'],
    queryFn: async () => {
      const query = lastDays(1, Date.now());
      const { buckets } = await read(
        api.GET('/v1/admin/apps/{app}/usage/timeseries', { params: { path: { app: id }, query } }),
      );
      return buckets.reduce((sum, { requests: all, blocked }) => sum + all - blocked, 0);
    },
    enabled: perDay !== undefined,
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      {monthlyUsd !== undefined && (
        <Loaded query={summary} rows={1}>
          {(app) =>
            app !== null && (
              <Gauge
                label="Spent of this month’s budget (UTC)"
                used={app.usage.cost_usd + app.usage.estimated_cost_usd}
                limit={monthlyUsd}
                text={moneyText}
              />
            )
          }
        </Loaded>
      )}
      {perDay !== undefined && (
        <Loaded query={today} rows={1}>
          {(used) => <Gauge label="Requests today (UTC)" used={used} limit={perDay} text={countText} />}
        </Loaded>
      )}
    </>
  );
}
