import { given, read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { listed, readById } from '../program/lists.js';
import { toSecond } from '../terminal/amounts.rules.js';
import { AUTH_EVENTS } from './app-choices.js';
import { appIdOf } from './apps.js';

/** `gw app sign-in list` */
export const list: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const path = { app: await appIdOf(api, gw.argument(0)) };
  const filter = given({
    ...{ outcome: gw.text('outcome'), user: gw.text('user') },
    event: gw.choice('event', AUTH_EVENTS),
  });
  const { result, note } = await readById(gw, 'events', (page) =>
    read(api.GET('/v1/admin/apps/{app}/auth-events', { params: { path, query: { ...filter, ...page } } })),
  );
  const rows = result.events.map(({ created_at, event, outcome, reason, user_id }) => [
    ...[toSecond(created_at), event, outcome, reason ?? '-', user_id ?? '-'],
  ]);
  const none = `There are no sign-ins in the last 90 days. See its authentication: gw app show ${gw.argument(0)}`;
  return listed(gw, result, {
    headings: ['TIME', 'EVENT', 'OUTCOME', 'REASON', 'USER'],
    ...{ rows, none, filters: ['outcome', 'event', 'user', 'beforeId'], note },
  });
};
