import { type Api, read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import { facts, table } from '../terminal/table.js';

/** `gw app list` */
export const list: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const query = gw.text('query');
  const result = await read(
    api.GET('/v1/admin/apps', { params: { query: { ...(query !== undefined && { query }) } } }),
  );
  if (result.apps.length === 0) return { result, text: 'There are no applications.' };
  const rows = result.apps.map(({ handle, id, name, status }) => [handle ?? '-', name, status, id]);
  return { result, text: table(['HANDLE', 'NAME', 'STATUS', 'ID'], rows) };
};

/** `gw app show` */
export const show: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const id = await appIdOf(api, gw.argument(0));
  const result = await read(api.GET('/v1/admin/apps/{app}', { params: { path: { app: id } } }));
  const { handle, name, status, revision, config } = result.app;
  const values = { Handle: handle ?? '-', Id: id, Name: name, Status: status, Revision: revision };
  return { result, text: `${facts(values)}\n\n${JSON.stringify(config, null, 2)}` };
};

/** The id of an application that is named by its handle or its id; a handle comes first. @throws Failure there is none. */
async function appIdOf(api: Api, named: string): Promise<string> {
  const { apps } = await read(api.GET('/v1/admin/apps', { params: { query: { query: named } } }));
  const app = apps.find(({ handle }) => handle === named) ?? apps.find(({ id }) => id === named);
  if (app !== undefined) return app.id;
  const nextAction = 'See which there are: gw app list';
  throw Failure.input('app_not_found', `There is no application "${named}".`, { nextAction });
}
