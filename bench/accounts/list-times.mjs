/**
 * Measures every list of the management API over HTTP, on a database that it fills itself:
 * `npm run build && node bench/accounts/list-times.mjs --url=postgres://… [--apps=10000] [--users=1000000] [--events=1000000]`
 *
 * The database must exist and be empty; it is left filled. What is printed is the first time, and p50 and p95 of those
 * after it, in milliseconds: the whole call, as a client on this machine sees it, with the service in this process.
 */
import { parseArgs } from 'node:util';
import { percentile } from '../statistics.mjs';
import { fillAccounts } from './fill-accounts.mjs';
import { ACCOUNTS, startOwnerConsole } from './owner-console.mjs';

const BOUND_MS = 50;
const REPEATS = 40;

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    apps: { type: 'string', default: '10000' },
    users: { type: 'string', default: '1000000' },
    events: { type: 'string', default: '1000000' },
  },
});
if (values.url === undefined) throw new Error('--url names an empty database');

const { small, large } = ACCOUNTS;
const service = await startOwnerConsole(values.url);
const { database } = service;

const size = { apps: Number(values.apps), users: Number(values.users), events: Number(values.events) };
await fillAccounts(database, size);
const [{ event, audit }] = (
  await database.query('SELECT (SELECT max(id) FROM auth_events) AS event, (SELECT max(id) FROM audit_events) AS audit')
).rows;
const middle = { event: Number(event) - size.events / 2, audit: Number(audit) - size.events / 2 };

const app = '/v1/admin/apps/small-1';
const lists = [
  ['applications, 50', small, '/v1/admin/apps'],
  [`applications, ${size.apps - 50} of one account`, large, '/v1/admin/apps'],
  ['applications of it, a page', large, '/v1/admin/apps?limit=50'],
  ['applications of it, a late page', large, '/v1/admin/apps?limit=50&after_id=large-9'],
  ['applications of it, the hundred that cost most', large, '/v1/admin/apps?limit=100&sort=cost'],
  ['applications of it, by a part of the name', large, '/v1/admin/apps?limit=100&sort=name&query=app%2099'],
  ['keys of an application', small, `${app}/keys`],
  ['users, first page', small, `${app}/users`],
  ['users, page in the middle', small, `${app}/users?offset=${Math.floor(size.users / 4)}`],
  ['users, last page', small, `${app}/users?offset=${Math.floor(size.users / 2) - 50}`],
  ['users, blocked', small, `${app}/users?status=blocked`],
  ['users, by a part of the id', small, `${app}/users?query=er-99`],
  ['auth events', small, `${app}/auth-events`],
  ['auth events, old page', small, `${app}/auth-events?before_id=${middle.event}`],
  ['auth events of a user', small, `${app}/auth-events?user=user-7`],
  ['audit events', small, '/v1/admin/audit-events'],
  ['audit events, old page', small, `/v1/admin/audit-events?before_id=${middle.audit}`],
  ['audit events, rare action', small, '/v1/admin/audit-events?action=app.deleted'],
  ['audit events of an application', small, '/v1/admin/audit-events?app_id=small-7'],
  ['audit events of a person', small, '/v1/admin/audit-events?actor_id=user_7'],
  ['providers', small, '/v1/admin/providers'],
  ['provider gateways', small, '/v1/admin/provider-gateways'],
  ['members', small, '/v1/admin/members'],
  ['invitations', small, '/v1/admin/invitations'],
  ['management keys', small, '/v1/admin/keys'],
  ['organizations', small, '/v1/admin/organizations'],
];

const cookies = new Map();
for (const account of [small, large]) {
  const named = Object.entries(await service.cookiesOf(account));
  cookies.set(account, named.map(([name, value]) => `${name}=${value}`).join('; '));
}

async function timeOf(account, route) {
  const startedMs = performance.now();
  const headers = { cookie: cookies.get(account), 'x-console-request': '1' };
  const answer = await fetch(`${service.url}${route}`, { headers });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${route}: ${answer.status} ${text}`);
  return performance.now() - startedMs;
}

let slow = 0;
try {
  await timeOf(small, '/v1/admin/session');
  for (const [name, account, route] of lists) {
    const first = await timeOf(account, route);
    const times = [];
    for (let round = 0; round < REPEATS; round++) times.push(await timeOf(account, route));
    const sorted = times.toSorted((a, b) => a - b);
    const [p50, p95] = [percentile(sorted, 0.5), percentile(sorted, 0.95)];
    if (p95 > BOUND_MS) slow++;
    const columns = [first, p50, p95].map((ms) => ms.toFixed(1).padStart(9)).join(' ');
    console.log(`${name.padEnd(40)} ${columns}${p95 > BOUND_MS ? '  over' : ''}`);
  }
  console.log(`p95 of ${slow} of ${lists.length} is over ${BOUND_MS} ms`);
} finally {
  await service.stop();
}
