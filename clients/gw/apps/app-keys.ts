import { read } from '../api/client.js';
import { createOnce } from '../api/creation.js';
import { sessionOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import { listed } from '../program/lists.js';
import { dayOf } from '../terminal/amounts.rules.js';
import { keepingKey, saved } from './app-changes.js';
import { appIdOf } from './apps.js';

/** `gw app key list` */
export const list: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const path = { app: await appIdOf(api, gw.argument(0)) };
  const result = await read(api.GET('/v1/admin/apps/{app}/keys', { params: { path } }));
  const rows = result.keys.map(({ name, key_prefix, status, last_used_at, expires_at, id }) => [
    ...[name, `${key_prefix}…`, status, last_used_at === null ? 'never' : dayOf(last_used_at)],
    ...[expires_at ?? 'never', id],
  ]);
  const none = `There are no keys. Create one: gw app key add ${gw.argument(0)}`;
  return listed(gw, result, { headings: ['NAME', 'KEY', 'STATUS', 'LAST USED', 'EXPIRES', 'ID'], rows, none });
};

/** `gw app key add` */
export const add: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const expiresAt = gw.text('expiresAt');
  const body = { name: gw.required('name'), ...(expiresAt === undefined ? {} : { expires_at: expiresAt }) };
  const path = { app: await appIdOf(api, gw.argument(0)) };
  const key = await keepingKey(gw.text('keyOutput'), undefined, (file) =>
    createOnce(gw, { key: body, ...path }, async (headers) => {
      const issued = await read(api.POST('/v1/admin/apps/{app}/keys', { params: { path }, body, headers }));
      return saved(file, issued, issued.id);
    }),
  );
  return { result: { app_id: path.app, api_key: key }, text: `Created "${key.name}". The key is in ${key.key_file}.` };
};

/** `gw app key revoke` */
export const revoke: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const app = await appIdOf(api, gw.argument(0));
  const { keys } = await read(api.GET('/v1/admin/apps/{app}/keys', { params: { path: { app } } }));
  const named = gw.argument(1);
  const byId = keys.filter(({ id }) => id === named);
  const [key, ...others] =
    byId.length > 0 ? byId : keys.filter(({ name, status }) => name === named && status === 'active');
  if (key === undefined || others.length > 0) {
    const message = key === undefined ? `There is no key "${named}".` : `Several keys are named "${named}".`;
    throw Failure.input(key === undefined ? 'not_found' : 'ambiguous', message, {
      nextAction: `See them: gw app key list ${app}`,
    });
  }
  if (gw.mayAsk) await gw.confirm(`Revoke the key ${key.name} (${key.key_prefix}…)? Calls with it fail immediately.`);
  const params = { path: { app, key: key.id } };
  const result = await read(api.POST('/v1/admin/apps/{app}/keys/{key}/revoke', { params }));
  return { result, text: `Revoked "${key.name}".` };
};
