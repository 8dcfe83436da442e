import type { components } from '../../console/src/api/schema.d.ts';
import { type Api, read } from '../api/client.js';
import { isOfStranger } from '../api/refusal.rules.js';
import type { Environment } from '../program/environment.js';
import { Failure } from '../program/failure.js';
import type { AccountState, CurrentProvider } from './account-state.js';
import type { AppConfig, DesiredProvider } from './configuration-files.js';
import { differences, leafDifferences } from './difference.rules.js';
import type { Placed } from './directory.js';
import type { Change, Missing } from './plan.rules.js';
import { invalid, type Problems } from './problems.js';
import type { ReachOf } from './provider-reach.js';
import { reachText } from './provider-reach.rules.js';
import { type ProviderSecret, providerSecretOf } from './provider-secret.js';

const ADD_PROVIDER = 'Add it: gw provider add, or name it in providers.yaml.';

/** A provider as a validation includes it: a creation without its key. */
export type AssumedProvider = components['schemas']['CreateProviderRequest'];

/** A change of a provider, with its requests. */
export interface ProviderStep {
  readonly change: Change;
  readonly desired: DesiredProvider;
  readonly current: CurrentProvider | undefined;
  readonly assumed: AssumedProvider;
  /** Its key; undefined if none is needed. */
  readonly secret: ProviderSecret | undefined;
}

/** The changes of providers, and what they lack. @param problems collects impossible requests of a file. */
export async function planProviders(
  api: Api,
  state: AccountState,
  desired: readonly Placed<DesiredProvider>[],
  environment: Pick<Environment, 'variable'>,
  reachOf: ReachOf,
  problems: Problems,
): Promise<{ readonly steps: readonly ProviderStep[]; readonly missing: readonly Missing[] }> {
  const steps: ProviderStep[] = [];
  const missing: Missing[] = [];
  for (const placed of desired) {
    await problems.attempt(async () => {
      const step = await stepOf(placed, state, environment, reachOf);
      if (step === undefined) return;
      await requireAccepted(api, placed, step.assumed);
      missing.push(...missingFor(step, state));
      const unpriced = await unpricedMeaning(api, step);
      steps.push({ ...step, change: { ...step.change, meaning: [...step.change.meaning, ...unpriced] } });
    });
  }
  return { steps, missing };
}

async function stepOf(
  placed: Placed<DesiredProvider>,
  { providers, gateways }: AccountState,
  environment: Pick<Environment, 'variable'>,
  reachOf: ReachOf,
): Promise<ProviderStep | undefined> {
  const { desired } = placed;
  const current = providers.find(({ slug }) => slug === desired.slug);
  const fields = differences(current === undefined ? {} : comparable(current), comparable(desired));
  if (current !== undefined && fields.length === 0) return undefined;
  const fixed = fields.find(({ path }) => path === 'type' || path === 'providerGateway');
  if (current !== undefined && fixed !== undefined) {
    throw invalid(placed.at(fixed.path), `cannot change; remove ${desired.slug} first`);
  }
  const needsKey = desired.providerGateway === null && (current === undefined || movesTo(current, desired));
  const secret = needsKey ? providerSecretOf(environment, desired) : undefined;
  const gatewayId = desired.providerGateway === null ? undefined : gateways.get(desired.providerGateway);
  const change: Change = {
    ...{ kind: 'provider', action: current === undefined ? 'create' : 'update', name: desired.slug },
    ...{
      id: current?.id ?? null,
      fields,
      meaning: [
        ...(current === undefined ? newMeaning(desired) : await meaningOf(current, desired, reachOf)),
        ...(secret === undefined ? [] : [`Its key is read from ${secret.place}.`]),
        ...(current === undefined ? placeMeaning(desired, providers) : []),
      ],
    },
  };
  const assumed = { ...written(desired), ...(gatewayId !== undefined && { providerGatewayId: gatewayId }) };
  return { change, desired, current, assumed: assumed as AssumedProvider, secret };
}

/** A new custom address needs the key to send there. */
const movesTo = (current: DesiredProvider, desired: DesiredProvider) =>
  desired.baseUrl !== null && desired.baseUrl !== current.baseUrl;

function missingFor({ change, desired, secret }: ProviderStep, { gateways }: AccountState): readonly Missing[] {
  const { slug, type, providerGateway } = desired;
  if (providerGateway !== null && gateways.get(providerGateway) === undefined) {
    if (gateways.has(providerGateway)) {
      const problem = `Several provider gateways are named "${providerGateway}"; ${slug} needs one.`;
      return [{ name: slug, problem, nextAction: 'Rename the others: gw provider-gateway update <id> --name <name>' }];
    }
    const problem = `There is no provider gateway "${providerGateway}" for ${slug}.`;
    return [{ name: slug, problem, nextAction: `Add it: gw provider-gateway add --name ${providerGateway}` }];
  }
  if (secret === undefined || secret.isThere) return [];
  const command =
    change.action === 'create'
      ? `gw provider add --type ${type} --slug ${slug}`
      : `gw provider update ${slug} --base-url ${desired.baseUrl} --key-stdin`;
  const problem =
    change.action === 'create' ? `The provider ${slug} does not exist.` : `The new address of ${slug} needs its key.`;
  return [{ name: slug, problem, nextAction: `${secret.advice}, or use: ${command}` }];
}

/** The effect of an added provider. */
function newMeaning({ status, baseUrl }: DesiredProvider): readonly string[] {
  if (status === 'disabled') return ['It is disabled: its calls fail.'];
  const where = baseUrl === null ? '' : ` Its key is sent to ${baseUrl}.`;
  return [`Applications that reach every provider, or every provider of its type, may call it at once.${where}`];
}

/** A slug cannot change: a new provider replaces only those that its file names. */
function placeMeaning(desired: DesiredProvider, providers: readonly CurrentProvider[]): readonly string[] {
  const { name, type, slug } = desired;
  const replaced = replacedBy(desired, providers).map((one) => one.slug);
  if (replaced.length > 0) {
    const [names, is] = [replaced.join(', '), replaced.length === 1 ? 'is' : 'are'];
    return [`It replaces ${names}, which ${is} removed last: calls that use that slug must name ${slug}.`];
  }
  const namesakes = providers.filter((one) => one.name === name && one.type === type).map(({ slug }) => slug);
  if (namesakes.length === 0) return [];
  return [`${namesakes.join(', ')} has the same name and type, but is another provider: a slug cannot change.`];
}

/** The providers of the account that a provider replaces. */
export function replacedBy({ movedFrom }: DesiredProvider, providers: readonly CurrentProvider[]): CurrentProvider[] {
  return providers.filter(({ slug }) => movedFrom.includes(slug));
}

/** The effect of a change of a provider on the applications that reach it. */
async function meaningOf(
  current: DesiredProvider,
  desired: DesiredProvider,
  reachOf: ReachOf,
): Promise<readonly string[]> {
  const effects = [
    ...(current.status !== desired.status
      ? [desired.status === 'disabled' ? 'Its calls fail.' : 'Its calls are accepted again.']
      : []),
    ...(current.baseUrl !== desired.baseUrl
      ? [`Its calls go to ${desired.baseUrl ?? 'the address of its type'}.`]
      : []),
    ...(leafDifferences(current.gatewayRoute, desired.gatewayRoute).length > 0
      ? ['Its calls take another route through the provider gateway.']
      : []),
  ];
  const where = effects.length === 0 ? '' : reachText(await reachOf(desired.slug));
  return [
    ...effects.map((effect) => `${effect} ${where}`),
    ...priceMeaning(current.pricing ?? {}, desired.pricing ?? {}),
  ];
}

/** Models whose custom price is added or changed. Those that lose it: `unpricedMeaning`. */
function priceMeaning(before: object, after: object): readonly string[] {
  return Object.entries(after).flatMap(([model, price]) => {
    if (!Object.hasOwn(before, model)) return [`${model} gets a custom price.`];
    return leafDifferences(Object(before)[model], price).length > 0 ? [`The price of ${model} changes.`] : [];
  });
}

/** The effect on models that lose their custom price. The service knows whether they have another price. */
async function unpricedMeaning(api: Api, { desired, current, assumed }: ProviderStep): Promise<readonly string[]> {
  const lost = Object.keys(current?.pricing ?? {}).filter((model) => !Object.hasOwn(desired.pricing ?? {}, model));
  const lines: string[] = [];
  for (const model of lost) {
    const selected = { [desired.slug]: { allowed_paths: [], allowed_models: [model] } };
    const config = configOf({ mode: 'selected', selected });
    const body = { name: PROBE_NAME, assumed_providers: [assumed], config };
    const { error } = await api.POST('/v1/admin/apps/validate', { body });
    const isPriced = error === undefined;
    lines.push(isPriced ? `${model} gets the catalog price.` : `${model} becomes unpriced: its calls are refused.`);
  }
  return lines;
}

const PROBE_NAME = 'A provider to validate';

const configOf = (providers: AppConfig['routing']['providers']): AppConfig => ({
  authentication: { type: 'api_key' },
  routing: { providers, model_rewrites: {} },
});

/** The service validates it together with an application that reaches everything. */
async function requireAccepted(api: Api, placed: Placed<DesiredProvider>, assumed: AssumedProvider): Promise<void> {
  const probe = { name: PROBE_NAME, assumed_providers: [assumed], config: configOf({ mode: 'all' }) };
  // A missing gateway is reported by its name.
  if (placed.desired.providerGateway !== null && assumed.providerGatewayId === undefined) return;
  try {
    await read(api.POST('/v1/admin/apps/validate', { body: probe }));
  } catch (error) {
    throw refused(error, placed, /^assumed_providers\.0\./);
  }
}

/** Whether an application is refused because of a missing or refused provider. */
export const isUnknownProvider = (problem: string) => problem.endsWith('is not a provider of this account');

/** A refusal of the service as a problem of the file. @param prefix of the path that the file does not have. */
export function refused(error: unknown, placed: Pick<Placed<unknown>, 'at'>, prefix = /^/): unknown {
  if (!(error instanceof Failure) || error.status !== 400 || isOfStranger(error)) return error;
  const [, path = '', problem = error.message] = PLACED_PROBLEM.exec(error.message.replace(prefix, '')) ?? [];
  return invalid(placed.at(path), problem, isUnknownProvider(problem) ? ADD_PROVIDER : undefined);
}

/** A message of the service about a part of a configuration. */
const PLACED_PROBLEM = /^(\S+): (.*)$/s;

export function nameOf({ handle, id }: { readonly handle: string | null; readonly id: string }): string {
  return handle ?? id;
}

function comparable({
  slug,
  type,
  name,
  status,
  baseUrl,
  providerGateway,
  gatewayRoute,
  pricing,
  secret,
}: DesiredProvider): object {
  return written(
    {
      movedFrom: [],
      slug,
      type,
      name,
      status,
      baseUrl: baseUrl && canonical(baseUrl),
      providerGateway,
      gatewayRoute,
      pricing,
      secret,
    },
    true,
  );
}

/** As the service stores an address: a lower-case host, one slash at the end. */
const canonical = (baseUrl: string) =>
  URL.canParse(baseUrl) ? `${new URL(baseUrl).href.replace(/\/+$/, '')}/` : baseUrl;

/** The members that are present. @param withPlace also those that a creation does not have. */
function written(provider: DesiredProvider, withPlace = false): object {
  const { status, providerGateway, secret: _notSent, movedFrom: _ofTheFile, ...creation } = provider;
  const place = withPlace ? { status, providerGateway } : {};
  return Object.fromEntries(Object.entries({ ...creation, ...place }).filter(([, value]) => value !== null));
}
