import type { components } from '../../console/src/api/schema.d.ts';
import { type Api, given, read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import type { Action, Outcome } from '../program/command.js';
import { Failure } from '../program/failure.js';
import { MOST_ROWS } from '../program/list-options.js';
import { listed, readByOffset } from '../program/lists.js';
import { facts, table } from '../terminal/table.js';
import { printable } from '../terminal/terminal.js';
import { APP_ORDERS, ORDERS, STATUSES } from './app-choices.js';

/** An application as the API returns it. */
export type App = components['schemas']['AppResource'];

/** `gw app list` */
export const list: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const filter = given({
    query: gw.text('query'),
    status: gw.choice('status', STATUSES),
    sort: gw.choice('sort', APP_ORDERS),
    order: gw.choice('order', ORDERS),
  });
  const { result, note } = await readByOffset(
    gw,
    'apps',
    (page) => read(api.GET('/v1/admin/apps', { params: { query: { ...filter, ...page } } })),
    MOST_ROWS,
  );
  const rows = result.apps.map(({ handle, id, name, status }) => [handle ?? '-', name, status, id]);
  const none = 'There are no applications. Add one: gw app add';
  return listed(gw, result, {
    ...{ headings: ['HANDLE', 'NAME', 'STATUS', 'ID'], rows, none },
    ...{ filters: ['query', 'status', 'offset'], note },
  });
};

/** `gw app show` */
export const show: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const id = await appIdOf(api, gw.argument(0));
  const result = await read(api.GET('/v1/admin/apps/{app}', { params: { path: { app: id } } }));
  const note = result.config_error === null ? '' : `\n\nIts configuration is no longer valid: ${result.config_error}`;
  return { result, text: `${textOf(result.app)}\n\n${JSON.stringify(result.app.config, null, 2)}${note}` };
};

/** `gw app check` */
export const check: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const id = await appIdOf(api, gw.argument(0));
  const result = await read(api.GET('/v1/admin/apps/{app}/check', { params: { path: { app: id } } }));
  const endpoints = result.endpoints.map(({ slug, ready, problem }) => [
    `endpoint ${slug}`,
    ready ? 'ready' : (problem ?? '-'),
  ]);
  const providers = result.providers.map(({ slug, status }) => [`provider ${slug}`, status]);
  const rows = [['application', result.ready ? 'ready' : 'not ready'], ...providers, ...endpoints];
  const warnings = (result.validation.warnings ?? []).map((warning) => `Warning: ${warning}`);
  const notes = [...warnings, ...result.limitations].map((note) => `- ${printable(note)}`);
  return { result, text: [table(['PART', 'STATE'], rows, gw.terminal.columns), ...notes].join('\n') };
};

/** `gw app snippet` */
export const snippet: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const id = await appIdOf(api, gw.argument(0));
  const language = gw.choice('language', ['curl', 'swift', 'kotlin']);
  const [provider, endpoint] = [gw.text('provider'), gw.text('endpoint')];
  const query = {
    ...(language !== undefined && { language }),
    ...(provider !== undefined && { provider }),
    ...(endpoint !== undefined && { endpoint }),
  };
  const result = await read(api.GET('/v1/admin/apps/{app}/snippet', { params: { path: { app: id }, query } }));
  for (const note of gw.isJson ? [] : result.notes) gw.terminal.printError(`# ${printable(note)}`);
  return { result, text: result.snippet.trimEnd() };
};

/** An application as commands report it. */
export function textOf({ handle, id, name, status, revision }: App): string {
  return facts({ Handle: handle ?? '-', Id: id, Name: name, Status: status, Revision: revision });
}

/** An application after a change. @param done what happened to it. */
export function changed(result: Outcome['result'] & { readonly app: App }, done: string): Outcome {
  return { result, text: `${done}\n\n${textOf(result.app)}` };
}

/**
 * The id of an application that is named by its handle or its id; a handle comes first. @throws Failure if there is
 * none.
 */
export async function appIdOf(api: Api, named: string): Promise<string> {
  const { apps } = await read(api.GET('/v1/admin/apps', { params: { query: { query: named.slice(0, 200) } } }));
  const app = apps.find(({ handle }) => handle === named) ?? apps.find(({ id }) => id === named);
  if (app !== undefined) return app.id;
  const nextAction = 'List them: gw app list';
  throw Failure.input('app_not_found', `There is no application "${named}".`, { nextAction });
}
