import type { paths } from '../../console/src/api/schema.d.ts';
import { type Api, read } from '../api/client.js';
import { createOnce } from '../api/creation.js';
import { deploymentAt, sessionOf, urlOf } from '../api/session.js';
import { inBrowser } from '../operations/browser-step.js';
import type { Action, Outcome } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { listed } from '../program/lists.js';
import { facts } from '../terminal/table.js';

type Routes = paths['/v1/admin/provider-gateways'];
type Gateway = Routes['get']['responses'][200]['content']['application/json']['gateways'][number];
type NewGateway = Routes['post']['requestBody']['content']['application/json'];
/** Distributes over the gateway types. */
type WithoutToken<T> = T extends unknown ? Omit<T, 'token'> : never;

const OLD_TOKEN = 'The old token stays valid at the upstream gateway until it is revoked there.';

/** `gw provider-gateway types` */
export const types: Action = async (gw) => {
  const { providerGateways } = (await deploymentAt(urlOf(gw), gw.context)).capabilities;
  const rows = providerGateways.map(({ type, name }) => [type, name]);
  return listed(gw, { providerGateways }, { headings: ['TYPE', 'NAME'], rows, none: 'There are none.' });
};

/** `gw provider-gateway list` */
export const list: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const result = await read(api.GET('/v1/admin/provider-gateways'));
  const rows = result.gateways.map(({ name, type, providerCount, status, id }) => [
    name,
    type,
    providerCount,
    status,
    id,
  ]);
  const none = 'There are no provider gateways. Add one: gw provider-gateway add';
  return listed(gw, result, { headings: ['NAME', 'TYPE', 'PROVIDERS', 'STATUS', 'ID'], rows, none });
};

/** `gw provider-gateway show` */
export const show: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  return shown(await gatewayOf(api, gw.argument(0)));
};

/** `gw provider-gateway add` */
export const add: Action = async (gw) => {
  const session = await sessionOf(gw);
  const body = newGatewayOf(gw);
  const done = `Added ${body.name}.`;
  if (gw.flag('browser')) return inBrowser(gw, session, 'provider-gateway.add', { ...body }, done);
  const token = await gw.secret(`Token of ${body.name}`);
  const { gateway } = await createOnce(gw, { gateway: body, token }, (headers) =>
    read(session.api.POST('/v1/admin/provider-gateways', { body: { ...body, token }, headers })),
  );
  return shown(gateway, done);
};

/** `gw provider-gateway update` */
export const update: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const { id, revision } = await gatewayOf(api, gw.argument(0));
  const body = { name: gw.required('name'), revision };
  const { gateway } = await read(api.PATCH('/v1/admin/provider-gateways/{id}', { params: { path: { id } }, body }));
  return shown(gateway, `Renamed to ${gateway.name}.`);
};

/** `gw provider-gateway rotate-key` */
export const rotateKey: Action = async (gw) => {
  const session = await sessionOf(gw);
  const { id, name, revision } = await gatewayOf(session.api, gw.argument(0));
  const done = `Calls through ${name} use the new token. ${OLD_TOKEN}`;
  if (gw.flag('browser')) return inBrowser(gw, session, 'provider-gateway.rotate-key', { gateway: id, revision }, done);
  const body = { token: await gw.secret(`New token of ${name}`), revision };
  const place = { params: { path: { id } }, body };
  const { gateway } = await read(session.api.POST('/v1/admin/provider-gateways/{id}/rotate', place));
  return shown(gateway, done);
};

/** `gw provider-gateway remove` */
export const remove: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const { id, name } = await gatewayOf(api, gw.argument(0));
  await gw.confirm(`Remove the provider gateway ${name} and its token?`);
  const result = await read(api.DELETE('/v1/admin/provider-gateways/{id}', { params: { path: { id } } }));
  return { result, text: `Removed ${name}. ${OLD_TOKEN}` };
};

/** A provider gateway by id or name. @throws Failure not found, or several have the name. */
export async function gatewayOf(api: Api, named: string): Promise<Gateway> {
  const { gateways } = await read(api.GET('/v1/admin/provider-gateways'));
  const found = gateways.filter(({ id }) => id === named);
  const [gateway, ...others] = found.length > 0 ? found : gateways.filter(({ name }) => name === named);
  if (gateway !== undefined && others.length === 0) return gateway;
  const nextAction = 'List them: gw provider-gateway list';
  const message =
    gateway === undefined
      ? `There is no provider gateway "${named}".`
      : `Several provider gateways are named "${named}".`;
  throw Failure.input(gateway === undefined ? 'not_found' : 'ambiguous', message, { nextAction });
}

function newGatewayOf(gw: Invocation): WithoutToken<NewGateway> {
  const [type, name] = [gw.required('type'), gw.required('name')];
  if (type === 'vercel') return { type, name };
  const accountId = gw.required('cloudflareAccountId');
  return { type: 'cf_aig', name, accountId, gatewayId: gw.required('gatewayId') };
}

function shown(gateway: Gateway, done?: string): Outcome {
  const { name, type, status, id, revision, secretHint, providerCount } = gateway;
  const place = gateway.type === 'cf_aig' && { Account: gateway.config.accountId, Gateway: gateway.config.gatewayId };
  const values = {
    ...{ Name: name, Type: type, Status: status, Id: id, Revision: revision, ...place },
    ...{ Token: `…${secretHint}`, Providers: providerCount },
  };
  return { result: { gateway }, text: `${done === undefined ? '' : `${done}\n\n`}${facts(values)}` };
}
