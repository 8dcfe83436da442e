import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { api, read, type Schemas } from '../api/client';
import { useAddress } from '../design/address';
import { countText, moneyText } from '../design/amounts.rules';
import { SelectField } from '../design/field';
import { Card, EmptyState } from '../design/layout';
import { lazyComponent } from '../design/lazy-component';
import { Loaded } from '../design/loaded';
import { Time } from '../design/time';
import { Calls } from '../usage/calls';
import { chartOf, periodOf } from '../usage/periods.rules';
import { useUsageAddress } from '../usage/usage-address';
import { draftOf, useAppDraft } from './app-draft';
import { MonthFigures } from './app-figures';
import { AuthEventList } from './auth-events-tab';
import { BlockButton } from './block-button';
import { Gauge } from './gauge';
import { lastMonths } from './user-address';
import { UserBadges } from './users-tab';

const UsageChart = lazyComponent(async () => (await import('../usage/usage-chart')).UsageChart, 6);

type SingleUser = Schemas['SingleUserResponse'];

/** One user: limits, usage, calls, sign-ins. */
export function UserTab() {
  const { id: app } = useAppDraft();
  const [members] = useState(() => ({ user_id: '', month: lastMonths() }));
  const [{ user_id: user, month }, change] = useAddress(members);
  const now = useUser(app, user, members.month[0]);
  const shown = useUser(app, user, month);
  return (
    <div className="flex flex-col gap-6">
      <div className="min-w-0">
        <Link href={`/apps/${app}/users`} className="text-sm text-muted hover:text-ink">
          ← Users
        </Link>
        <h2 className="font-mono text-lg font-semibold break-all">{user}</h2>
      </div>
      <Loaded query={now} rows={8}>
        {(current) => (
          <>
            <Standing app={app} user={current.user} />
            <Limits app={app} of={current} />
            <SelectField
              label="Month (UTC)"
              className="w-40"
              value={month}
              options={members.month.map((value) => ({ value, label: value }))}
              onChange={(value) => change({ month: value })}
            />
            <Loaded query={shown} rows={6}>
              {(of) => <Usage of={of} />}
            </Loaded>
            <CallsOf app={app} user={user} month={month} />
            <AuthEventList app={app} user={user} />
          </>
        )}
      </Loaded>
    </div>
  );
}

function Standing({ app, user }: { readonly app: string; readonly user: SingleUser['user'] }) {
  return (
    <div className="-mt-4 flex flex-wrap items-center justify-between gap-3">
      <span className="flex flex-wrap items-center gap-2 text-sm text-muted">
        <UserBadges user={user} />
        <span>Last seen {user.last_seen_at === null ? 'never' : <Time at={user.last_seen_at} isRelative />}</span>
      </span>
      <BlockButton app={app} user={user} />
    </div>
  );
}

function useUser(app: string, user: string, month: string) {
  return useQuery({
    queryKey: ['app', app, 'users', 'one', user, month],
    queryFn: () =>
      read(api.GET('/v1/admin/apps/{app}/user', { params: { path: { app }, query: { user_id: user, month } } })),
    placeholderData: keepPreviousData,
  });
}

function Limits({ app, of: { user, limits } }: { readonly app: string; readonly of: SingleUser }) {
  const { requests_per_minute: perMinute, requests_per_day: perDay, monthly_budget_usd: budgetUsd } = limits;
  const { daily_budget_usd: dailyUsd, weekly_budget_usd: weeklyUsd, tokens_today: tokensToday } = limits;
  const { loaded } = useAppDraft();
  const tokens = draftOf(loaded).config.limits?.per_user?.tokens;
  const [tokensPerMinute, tokensPerDay] = [tokens?.per_minute ?? null, tokens?.per_day ?? null];
  const all = [perMinute, perDay, budgetUsd, dailyUsd, weeklyUsd, tokensPerMinute, tokensPerDay];
  const hasLimits = all.some((limit) => limit !== null);
  return (
    <Card
      title="Limits"
      lead="Current usage of the limits that apply to each user."
      actions={
        <Link href={`/apps/${app}/limits`} className="text-sm text-accent underline">
          Change limits
        </Link>
      }
    >
      {!hasLimits && <p className="text-muted">Users of this application have no limits.</p>}
      {budgetUsd !== null && (
        <Gauge
          label={`Budget of this month (UTC), ${moneyText(Math.max(0, budgetUsd - user.budget_spent_usd))} left`}
          used={user.budget_spent_usd}
          limit={budgetUsd}
          text={moneyText}
        />
      )}
      {weeklyUsd !== null && (
        <Gauge
          label="Cost of this week (UTC), without estimates"
          used={limits.weekly_cost_usd ?? 0}
          limit={weeklyUsd}
          text={moneyText}
        />
      )}
      {dailyUsd !== null && (
        <Gauge
          label="Cost of today (UTC), without estimates"
          used={limits.daily_cost_usd ?? 0}
          limit={dailyUsd}
          text={moneyText}
        />
      )}
      {perDay !== null && (
        <Gauge
          label={`Requests of today (UTC), ${countText(limits.requests_remaining ?? 0)} left`}
          used={limits.requests_today ?? 0}
          limit={perDay}
          text={countText}
        />
      )}
      {tokensPerDay !== null && tokensToday !== null && (
        <Gauge
          label={`Tokens of today (UTC), ${countText(Math.max(0, tokensPerDay - tokensToday))} left`}
          used={tokensToday}
          limit={tokensPerDay}
          text={countText}
        />
      )}
      <PerMinute what="Requests" limit={perMinute} />
      <PerMinute what="Tokens" limit={tokensPerMinute} />
    </Card>
  );
}

function PerMinute({ what, limit }: { readonly what: string; readonly limit: number | null }) {
  if (limit === null) return null;
  return (
    <p className="mt-5 flex justify-between first:mt-0 gap-3 text-sm">
      <span className="text-muted">{what} per minute</span>
      <span className="tabular-nums">{countText(limit)}</span>
    </p>
  );
}

function Usage({ of: { user, days, month } }: { readonly of: SingleUser }) {
  const chart = useMemo(() => {
    const buckets = days.map(({ date, ...totals }) => ({ ...totals, start: date, key: 'Cost' }));
    return chartOf(buckets, 'cost', periodOfMonth(month), Date.now());
  }, [days, month]);
  return (
    <div>
      <MonthFigures usage={user.usage} period={month} />
      <Card title="Cost by day" lead="UTC days.">
        {days.length === 0 ? (
          <EmptyState title="No usage by day">
            {user.usage.requests === 0
              ? 'This user made no calls in this month.'
              : 'Daily figures are kept for 90 days; the figures above cover the whole month.'}
          </EmptyState>
        ) : (
          <UsageChart chart={chart} measure="cost" />
        )}
      </Card>
    </div>
  );
}

/** Calls of the month. Other filters are in the address. */
function CallsOf({ app, user, month }: { readonly app: string; readonly user: string; readonly month: string }) {
  const address = useUsageAddress();
  const ofMonth = useMemo(() => ({ ...address, period: periodOfMonth(month) }), [address, month]);
  return <Calls app={app} user={user} address={ofMonth} />;
}

function periodOfMonth(month: string) {
  return periodOf(new URLSearchParams({ period: month }), Date.now());
}
