import type { components } from '../../console/src/api/schema.d.ts';
import { read } from '../api/client.js';
import { createOnce } from '../api/creation.js';
import { sessionOf } from '../api/session.js';
import { inBrowser } from '../operations/browser-step.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { printable } from '../terminal/terminal.js';
import { gatewayOf } from './gateways.js';
import { providerOf, shown } from './providers.js';

type NewProvider = components['schemas']['CreateProviderRequest'];
type ProviderChange = components['schemas']['UpdateProviderRequest'];

/** The gateway only deletes a key; the provider can revoke it. */
const OLD_KEY = 'The old key stays valid at the provider until it is revoked there.';

/** `gw provider add` */
export const add: Action = async (gw) => {
  const session = await sessionOf(gw);
  const { api, capabilities } = session;
  const offered = capabilities.providers.find(({ type }) => type === gw.text('type'));
  if (offered === undefined) {
    const known = capabilities.providers.map(({ type }) => type).join(', ');
    throw Failure.input('invalid_option', `--type: must be one of ${known}.`);
  }
  const gateway = gw.text('providerGateway');
  const body: NewProvider = {
    ...{ type: offered.type, name: gw.text('name') ?? offered.name, ...settingsOf(gw) },
    ...(gw.text('slug') !== undefined && { slug: gw.text('slug') }),
    ...(gateway !== undefined && { providerGatewayId: (await gatewayOf(api, gateway)).id }),
  };
  if (gw.flag('browser')) return inBrowser(gw, session, 'provider.add', { ...body }, `Added ${offered.name}.`);
  const secret = gateway === undefined ? await gw.secret(`Key of ${offered.name}`) : undefined;
  const { provider } = await createOnce(gw, { provider: body, secret }, (headers) =>
    read(api.POST('/v1/admin/providers', { body: { ...body, ...(secret !== undefined && { secret }) }, headers })),
  );
  return shown(provider, `Added ${provider.slug}.`);
};

/** `gw provider update` */
export const update: Action = async (gw) => {
  const session = await sessionOf(gw);
  const { id, slug, revision } = await providerOf(session.api, gw.argument(0));
  const status = gw.choice('status', ['active', 'disabled']);
  const change: ProviderChange = {
    ...settingsOf(gw),
    ...(gw.text('name') !== undefined && { name: gw.text('name') }),
    ...(status !== undefined && { status }),
    ...(gw.flag('clearBaseUrl') && { baseUrl: null }),
    ...(gw.flag('clearPricing') && { pricing: null }),
    ...(gw.flag('clearRoute') && { gatewayRoute: {} }),
  };
  if (Object.keys(change).length === 0) {
    throw Failure.input('nothing_to_change', 'No change was given.', {
      nextAction: 'See the options: gw provider update --help',
    });
  }
  const done = `Changed ${slug}.`;
  if (gw.flag('browser')) return inBrowser(gw, session, 'provider.update', { provider: id, ...change, revision }, done);
  // A key is sent only to the address it was given for: another address needs it again.
  const needsKey = gw.flag('keyStdin') || (typeof change.baseUrl === 'string' && gw.mayAsk);
  const secret = needsKey ? await gw.secret(`Key of ${slug}, for the new address`) : undefined;
  const body = { ...change, revision, ...(secret !== undefined && { secret }) };
  const { provider } = await read(session.api.PUT('/v1/admin/providers/{id}', { params: { path: { id } }, body }));
  return shown(provider, done);
};

/** `gw provider rotate-key` */
export const rotateKey: Action = async (gw) => {
  const session = await sessionOf(gw);
  const { id, slug, revision } = await providerOf(session.api, gw.argument(0));
  const done = `Calls to ${slug} use the new key. ${OLD_KEY}`;
  if (gw.flag('browser')) return inBrowser(gw, session, 'provider.rotate-key', { provider: id, revision }, done);
  const body = { secret: await gw.secret(`New key of ${slug}`), revision };
  const { provider } = await read(session.api.PUT('/v1/admin/providers/{id}', { params: { path: { id } }, body }));
  return shown(provider, done);
};

/** `gw provider test` */
export const test: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const { id, slug } = await providerOf(api, gw.argument(0));
  const result = await read(api.POST('/v1/admin/providers/{id}/test', { params: { path: { id } } }));
  const doubt = result.status === undefined ? result.reason : `${result.reason}, status ${result.status}`;
  const warnings = (result.warnings ?? []).map((warning) => `\nWarning: ${printable(warning)}`).join('');
  return {
    result,
    text: result.validated
      ? `The key of ${slug} works.`
      : `The key of ${slug} could not be validated: ${doubt}.${warnings}`,
  };
};

/** `gw provider remove` */
export const remove: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const { id, slug } = await providerOf(api, gw.argument(0));
  await gw.confirm(`Remove the provider ${slug} and its key? Calls of applications that name it fail.`);
  const result = await read(api.DELETE('/v1/admin/providers/{id}', { params: { path: { id } } }));
  return { result, text: `Removed ${slug}. ${OLD_KEY}` };
};

/** The options that creation and change share. The service validates their values. */
function settingsOf(gw: Invocation): Pick<NewProvider, 'baseUrl' | 'pricing' | 'gatewayRoute'> {
  const [baseUrl, pricing, gatewayRoute] = [gw.text('baseUrl'), gw.json('pricing'), gw.json('route')];
  return {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(pricing !== undefined && { pricing: pricing as NonNullable<NewProvider['pricing']> }),
    ...(gatewayRoute !== undefined && { gatewayRoute: gatewayRoute as NonNullable<NewProvider['gatewayRoute']> }),
  };
}
