import type { AppConfig } from './configuration-files.js';
import { differences } from './difference.rules.js';

/** An application before and after a change, as far as its meaning goes. */
export interface MeantApp {
  readonly status: 'active' | 'disabled';
  readonly config: AppConfig;
}

/** What a change of an application means for its callers. @param users it has. */
export function meaningOf(before: MeantApp, after: MeantApp, users: number): readonly string[] {
  const who = counted(users);
  return [
    ...statusMeaning(before, after, who),
    ...authenticationMeaning(before.config, after.config, who),
    ...routingMeaning(before.config, after.config),
    ...endpointMeaning(before.config, after.config),
    ...limitMeaning(before.config, after.config, users),
    ...originMeaning(before.config, after.config),
  ];
}

/** Users in words. */
export const counted = (users: number) => (users === 1 ? '1 user' : `${users} users`);

function statusMeaning(before: MeantApp, after: MeantApp, who: string): readonly string[] {
  if (before.status === after.status) return [];
  return after.status === 'disabled' ? [`Every caller loses access (${who}).`] : [`Callers get access again (${who}).`];
}

function authenticationMeaning(before: AppConfig, after: AppConfig, who: string): readonly string[] {
  const changes = differences(before.authentication, after.authentication);
  if (changes.length === 0) return [];
  if (before.authentication.type !== after.authentication.type) {
    return [`Every caller loses access: the authentication changes (${who}).`];
  }
  const under = (prefix: string) => changes.some(({ path }) => path === prefix || path.startsWith(`${prefix}.`));
  const issuerChanged = under('end_user.issuer') && !under('end_user.source');
  const environments = changes.find(({ path }) => path === 'app_attest.environments');
  const lost = listed(environments?.before).filter((name) => !listed(environments?.after).includes(name));
  return [
    ...(under('end_user.source')
      ? [`Users are identified differently: ${who} and their counts are not carried over.`]
      : []),
    ...(issuerChanged ? [`Users whose tokens do not fit the new issuer settings lose access (up to ${who}).`] : []),
    ...(under('end_user.header') ? ['Callers must name the user in another header.'] : []),
    ...(under('app_attest.team_id') || under('app_attest.bundle_id')
      ? [`Devices of the previous app lose access (${who}).`]
      : []),
    ...(lost.length > 0 ? [`Devices of the environment ${lost.join(', ')} lose access.`] : []),
  ];
}

function routingMeaning(before: AppConfig, after: AppConfig): readonly string[] {
  const [was, is] = [selectedOf(before), selectedOf(after)];
  const rewrites = differences(before.routing.model_rewrites, after.routing.model_rewrites);
  const lines = rewrites.map(({ path, after: to }) =>
    to === undefined ? `Calls of ${path} get that model again.` : `Calls of ${path} get ${to}.`,
  );
  if (is === undefined) return was === undefined ? lines : ['Calls may reach every provider of the account.', ...lines];
  if (was === undefined)
    return [`Calls of every provider but ${Object.keys(is).join(', ') || 'none'} are refused.`, ...lines];
  const removed = Object.keys(was).filter((slug) => is[slug] === undefined);
  const added = Object.keys(is).filter((slug) => was[slug] === undefined);
  const narrowed = Object.entries(is).flatMap(([slug, policy]) => {
    const previous = was[slug];
    if (previous === undefined) return [];
    return [
      ...narrowing(
        previous.allowed_models,
        policy.allowed_models,
        (names) => `Through ${slug}, calls of ${names} are refused.`,
      ),
      ...narrowing(
        pathsOf(previous),
        pathsOf(policy),
        (names) => `Through ${slug}, calls of the paths ${names} are refused.`,
      ),
    ];
  });
  return [
    ...removed.map((slug) => `Calls of ${slug} are refused.`),
    ...added.map((slug) => `Calls may reach ${slug}.`),
    ...[...narrowed, ...lines],
  ];
}

type Selected = Readonly<
  Record<string, { readonly allowed_paths: readonly unknown[]; readonly allowed_models: readonly string[] }>
>;

/** Undefined: every provider. */
function selectedOf({ routing: { providers } }: AppConfig): Selected | undefined {
  return providers.mode === 'selected' ? providers.selected : undefined;
}

const pathsOf = ({ allowed_paths }: Selected[string]) =>
  allowed_paths.map((allowed) => (typeof allowed === 'string' ? allowed : String(Object(allowed).path)));

/** An empty list allows everything. */
function narrowing(
  before: readonly string[],
  after: readonly string[],
  told: (names: string) => string,
): readonly string[] {
  if (after.length === 0) return [];
  if (before.length === 0) return [told(`everything but ${after.join(', ')}`)];
  const lost = before.filter((name) => !after.includes(name));
  return lost.length === 0 ? [] : [told(lost.join(', '))];
}

function endpointMeaning(before: AppConfig, after: AppConfig): readonly string[] {
  const [was, is] = [before.endpoints ?? {}, after.endpoints ?? {}];
  const removed = Object.keys(was).filter((slug) => !Object.hasOwn(is, slug));
  const served = Object.entries(is).flatMap(([slug, { provider, model }]) => {
    const previous = Object.hasOwn(was, slug) ? was[slug] : undefined;
    if (previous === undefined) return [`The endpoint ${slug} is new, served by ${provider} with ${model}.`];
    const isMoved = previous.provider !== provider || previous.model !== model;
    return isMoved ? [`The endpoint ${slug} is served by ${provider} with ${model}.`] : [];
  });
  return [...removed.map((slug) => `The endpoint ${slug} answers 404.`), ...served];
}

function limitMeaning(before: AppConfig, after: AppConfig, users: number): readonly string[] {
  return differences(before.limits ?? {}, after.limits ?? {}).flatMap(({ path }) => {
    const scope = path.startsWith('per_user') ? `for each of ${counted(users)}` : 'for the application as a whole';
    return leavesOf(before.limits, after.limits, path).map(
      ([name, was, is]) => `${NAMES[name] ?? name}: ${shown(was)} becomes ${shown(is)}, ${scope}.`,
    );
  });
}

function originMeaning(before: AppConfig, after: AppConfig): readonly string[] {
  const [was, is] = [before.allowed_origins ?? [], after.allowed_origins ?? []];
  return [
    ...was.filter((origin) => !is.includes(origin)).map((origin) => `Pages of ${origin} cannot call any more.`),
    ...is.filter((origin) => !was.includes(origin)).map((origin) => `Pages of ${origin} may call.`),
  ];
}

const NAMES: Readonly<Record<string, string>> = {
  per_minute: 'Requests per minute',
  per_day: 'Requests per day',
  monthly_usd: 'Budget per month, in US dollars',
};

/** The limits at and below a path, before and after. */
function leavesOf(before: unknown, after: unknown, path: string): readonly (readonly [string, unknown, unknown])[] {
  const at = (value: unknown) => path.split('.').reduce<unknown>((part, name) => Object(part)[name], value);
  const [was, is] = [at(before), at(after)];
  const isLeaf = [was, is].every((value) => typeof value !== 'object' || value === null);
  if (isLeaf) return [[path.split('.').at(-1) ?? path, was, is]];
  const names = [...new Set([...Object.keys(Object(was)), ...Object.keys(Object(is))])];
  return names
    .flatMap((name) => leavesOf(before, after, `${path}.${name}`))
    .filter(([, one, other]) => (one ?? null) !== (other ?? null));
}

const shown = (value: unknown) => (value === undefined || value === null ? 'no limit' : String(value));

const listed = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
