import type { components } from '../../console/src/api/schema.d.ts';
import { given, read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import type { Action, Outcome } from '../program/command.js';
import type { Invocation } from '../program/invocation.js';
import { listed, readByOffset } from '../program/lists.js';
import { dayOf, toSecond, usd } from '../terminal/amounts.rules.js';
import { facts } from '../terminal/table.js';
import { printable } from '../terminal/terminal.js';
import { USER_ORDERS, USER_STATUSES } from './app-choices.js';
import { appIdOf } from './apps.js';

type Limits = components['schemas']['UserLimitsResponse'];

/** `gw app user list` */
export const list: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const path = { app: await appIdOf(api, gw.argument(0)) };
  const filter = given({
    ...{ query: gw.text('query'), month: gw.text('month') },
    status: gw.choice('status', USER_STATUSES),
    sort: gw.choice('sort', USER_ORDERS),
    at_limit: gw.flag('atLimit') ? ('true' as const) : undefined,
    min_budget_percent: gw.integer('minBudget', { min: 1, max: 100 }),
  });
  const { result, note } = await readByOffset(gw, 'users', (page) =>
    read(api.GET('/v1/admin/apps/{app}/users', { params: { path, query: { ...filter, ...page } } })),
  );
  const { monthly_budget_usd: budget } = result;
  const hasBudget = budget !== null || result.users.some(({ at_limit }) => at_limit);
  const rows = result.users.map(({ id, status, last_seen_at, usage, budget_spent_usd: spent, at_limit }) => [
    ...[id, status, last_seen_at === null ? '-' : dayOf(last_seen_at)],
    ...[usage.requests, usd(usage.cost_usd), usage.errors, usage.blocked],
    ...(hasBudget ? [budgetText(spent, budget, at_limit)] : []),
  ]);
  const none = `There are no users yet: no call has named one. Follow calls: gw logs --app ${gw.argument(0)}`;
  return listed(gw, result, {
    headings: [
      'USER',
      'STATUS',
      'LAST SEEN',
      'REQUESTS',
      'COST',
      'ERRORS',
      'BLOCKED',
      ...(hasBudget ? ['BUDGET'] : []),
    ],
    ...{ rows, none, filters: ['query', 'status', 'offset'], note },
  });
};

/** @param budget of the month; null: the limit is of a day or week. */
function budgetText(spent: number, budget: number | null, isAtLimit: boolean): string {
  const parts = [budget === null ? '' : `${usd(spent)} of ${usd(budget)}`, isAtLimit ? 'at the limit' : ''];
  return parts.filter((part) => part !== '').join(', ');
}

/** `gw app user show` */
export const show: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const path = { app: await appIdOf(api, gw.argument(0)) };
  const query = { user_id: gw.argument(1), ...given({ month: gw.text('month') }) };
  const result = await read(api.GET('/v1/admin/apps/{app}/user', { params: { path, query } }));
  const { id, status, created_at, last_seen_at, is_virtual, attest_registered, usage } = result.user;
  const text = facts({
    ...{ User: id, Status: status, Since: toSecond(created_at) },
    ...{ 'Last seen': last_seen_at === null ? 'never' : toSecond(last_seen_at) },
    ...{ Known: is_virtual ? 'from usage only' : 'by authentication', Device: attest_registered ? 'yes' : 'no' },
    ...{ Month: result.month, Requests: usage.requests, 'Input tokens': usage.input_tokens },
    ...{ 'Output tokens': usage.output_tokens, Cost: usd(usage.cost_usd), Errors: usage.errors },
    ...{ Blocked: usage.blocked, ...limitFacts(result.limits) },
  });
  return { result, text };
};

/** Where the user stands, of each limit that there is. */
function limitFacts(limits: Limits): Readonly<Record<string, string>> {
  const budget = (name: string, spent: number | null, limit: number | null) =>
    limit === null ? {} : { [`Budget of the ${name}`]: `${usd(spent ?? 0)} of ${usd(limit)}` };
  const count = (name: string, used: number | null, left: number | null) =>
    used === null || left === null ? {} : { [`${name} today`]: `${used} of ${used + left}` };
  return {
    ...budget('day', limits.daily_cost_usd, limits.daily_budget_usd),
    ...budget('week', limits.weekly_cost_usd, limits.weekly_budget_usd),
    ...budget('month', limits.monthly_cost_usd + limits.estimated_cost_usd, limits.monthly_budget_usd),
    ...count('Requests', limits.requests_today, limits.requests_remaining),
    ...count('Tokens', limits.tokens_today, limits.tokens_remaining),
  };
}

/** `gw app user block` */
export const block: Action = (gw) => setBlocked(gw, '/v1/admin/apps/{app}/user/block', 'Blocked');

/** `gw app user unblock` */
export const unblock: Action = (gw) => setBlocked(gw, '/v1/admin/apps/{app}/user/unblock', 'Unblocked');

async function setBlocked(
  gw: Invocation,
  route: '/v1/admin/apps/{app}/user/block' | '/v1/admin/apps/{app}/user/unblock',
  done: string,
): Promise<Outcome> {
  const { api } = await sessionOf(gw);
  const path = { app: await appIdOf(api, gw.argument(0)) };
  const result = await read(api.POST(route, { params: { path, query: { user_id: gw.argument(1) } } }));
  const effect = result.blocked ? 'Calls and sign-ins are refused.' : 'Calls and sign-ins are accepted again.';
  return { result, text: `${done} ${printable(result.user_id)}. ${effect}` };
}
