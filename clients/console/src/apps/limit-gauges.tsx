import { useQuery } from '@tanstack/react-query';
import { api, read } from '../api/client';
import { queries } from '../api/queries';
import { countText, moneyText } from '../design/amounts.rules';
import { lastDays } from '../usage/periods.rules';
import { draftOf, useAppDraft } from './app-draft';
import { Gauge } from './gauge';

const REFRESH_MS = 15_000;

/** How much of the stored budget and daily limit of the application is used; nothing where it has neither. */
export function LimitGauges() {
  const { id, loaded } = useAppDraft();
  const { requests, spending } = draftOf(loaded).config.limits?.per_app ?? {};
  const perDay = requests?.per_day ?? undefined;
  const monthlyUsd = spending?.monthly_usd ?? undefined;
  const { data: summary } = useQuery({ ...queries.appSummary(id), enabled: monthlyUsd !== undefined });
  const { data: today } = useQuery({
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
      {monthlyUsd !== undefined && summary && (
        <Gauge
          label="Spent of this month’s budget (UTC)"
          used={summary.usage.cost_usd + summary.usage.estimated_cost_usd}
          limit={monthlyUsd}
          text={moneyText}
        />
      )}
      {perDay !== undefined && today !== undefined && (
        <Gauge label="Requests of today (UTC)" used={today} limit={perDay} text={countText} />
      )}
    </>
  );
}
