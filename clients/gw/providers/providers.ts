import type { components } from '../../console/src/api/schema.d.ts';
import { type Api, read } from '../api/client.js';
import { deploymentAt, sessionOf, urlOf } from '../api/session.js';
import type { Action, Outcome } from '../program/command.js';
import { Failure } from '../program/failure.js';
import { listed } from '../program/lists.js';
import { facts } from '../terminal/table.js';
import { printable } from '../terminal/terminal.js';
import { counted } from '../terminal/words.rules.js';

type Provider = components['schemas']['ProviderResource'];

/** `gw provider types` */
export const types: Action = async (gw) => {
  const { capabilities } = await deploymentAt(urlOf(gw), gw.context);
  const { providers } = capabilities;
  const rows = providers.map(({ type, name, baseUrl }) => [type, name, baseUrl]);
  const none = 'The gateway offers no provider types.';
  return listed(gw, { providers }, { headings: ['TYPE', 'NAME', 'BASE URL'], rows, none });
};

/** `gw provider list` */
export const list: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const result = await read(api.GET('/v1/admin/providers'));
  const rows = result.providers.map(({ slug, type, name, status, id }) => [slug, type, name, status, id]);
  const none = 'There are no providers. Add one: gw provider add';
  return listed(gw, result, { headings: ['SLUG', 'TYPE', 'NAME', 'STATUS', 'ID'], rows, none });
};

/** `gw provider show` */
export const show: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  return shown(await providerOf(api, gw.argument(0)));
};

/** A provider as commands return it. @param done what happened to it. */
export function shown(provider: Provider, done?: string): Outcome {
  const { slug, type, name, status, id, revision, baseUrl, secretHint, route, pricing } = provider;
  const values = {
    ...{ Slug: slug, Type: type, Name: name, Status: status, Id: id, Revision: revision },
    ...{ Key: secretHint === null ? '-' : `…${secretHint}`, Route: route ?? '-', 'Base URL': baseUrl ?? '-' },
    Pricing: pricing === null ? '-' : counted(Object.keys(pricing).length, 'model'),
  };
  const warnings = (provider.warnings ?? []).map((warning) => `\n\nWarning: ${printable(warning)}`).join('');
  return { result: { provider }, text: `${done === undefined ? '' : `${done}\n\n`}${facts(values)}${warnings}` };
}

/** A provider by id or slug. @throws Failure not found. */
export async function providerOf(api: Api, named: string): Promise<Provider> {
  const { providers } = await read(api.GET('/v1/admin/providers'));
  const provider = providers.find(({ id }) => id === named) ?? providers.find(({ slug }) => slug === named);
  if (provider !== undefined) return provider;
  const nextAction = 'List them: gw provider list';
  throw Failure.input('not_found', `There is no provider "${named}".`, { nextAction });
}
