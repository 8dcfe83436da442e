import { isDeepStrictEqual } from 'node:util';
import { counted } from '../terminal/words.rules.js';
import type { AppConfig } from './configuration-files.js';
import { type FieldChange, leafDifferences } from './difference.rules.js';

/** The meaning of an application before and after a change. */
export interface MeantApp {
  readonly status: 'active' | 'disabled';
  readonly config: AppConfig;
}

/** The meaning of an added application: who may call it, what they reach, and their limits. */
export function creationMeaning({ status, config }: MeantApp): readonly string[] {
  const bounds = leafDifferences({}, config.limits ?? {});
  return [
    ...(status === 'disabled' ? ['It becomes disabled: its calls are refused.'] : []),
    callersOf(config),
    ...requirementOf(config),
    reachedBy(config),
    ...routingMeaning(OPEN, config).slice(config.routing.providers.mode === 'all' ? 0 : 1),
    ...endpointMeaning({}, config.endpoints ?? {}),
    ...(bounds.length === 0 ? ['It has no limit on requests or spending.'] : limitMeaning({}, config, undefined)),
  ];
}

/** A configuration that reaches everything. */
const OPEN = { routing: { providers: { mode: 'all' }, model_rewrites: {} } } as const;

function callersOf({ authentication }: AppConfig): string {
  if (authentication.type === 'api_key') return 'Anyone with its key may call it.';
  if (authentication.type === 'device_proofs') {
    const { app_attest, key_attestation, play_integrity } = authentication.proofs;
    const apps = [
      ...(app_attest === undefined ? [] : [app_attest.bundle_id]),
      ...(key_attestation === undefined ? [] : key_attestation.package_names),
      ...(play_integrity === undefined ? [] : [play_integrity.package_name]),
    ];
    return `Devices with the apps ${[...new Set(apps)].join(', ')} may call it (${Object.keys(authentication.proofs).join(', ')}).`;
  }
  const { bundle_id, team_id, environments = ['production'] } = authentication.app_attest;
  return `Devices with the app ${bundle_id} of ${team_id} may call it (${environments.join(', ')}).`;
}

function reachedBy({ routing: { providers } }: AppConfig): string {
  if (providers.mode === 'all') return 'Calls may reach every provider of the account.';
  return `Calls may reach ${Object.keys(providers.selected).join(', ') || 'no provider'} alone.`;
}

/** The effect of a change of an application on its callers. @param users it has. */
export function meaningOf(before: MeantApp, after: MeantApp, users: number): readonly string[] {
  const who = counted(users, 'user');
  return [
    ...statusMeaning(before, after, who),
    ...authenticationMeaning(before.config, after.config, who),
    ...routingMeaning(before.config, after.config),
    ...endpointMeaning(before.config.endpoints ?? {}, after.config.endpoints ?? {}),
    ...limitMeaning(before.config, after.config, users),
    ...originMeaning(before.config, after.config),
    ...streamMeaning('Answers', before.config.streams, after.config.streams),
  ];
}

function statusMeaning(before: MeantApp, after: MeantApp, who: string): readonly string[] {
  if (before.status === after.status) return [];
  return after.status === 'disabled' ? [`Every caller loses access (${who}).`] : [`Callers get access again (${who}).`];
}

function authenticationMeaning(before: AppConfig, after: AppConfig, who: string): readonly string[] {
  if (before.authentication.type !== after.authentication.type && !isWidened(before, after)) {
    return [`Every caller loses access: the authentication changes (${who}).`, ...requirementOf(after)];
  }
  return [...userMeaning(before, after, who), ...attestMeaning(before, after, who)];
}

/** Who the users of a configuration are. */
const sourceOf = ({ authentication }: AppConfig) => authentication.end_user?.source ?? 'none';

/** What a caller must send besides its credential. */
function requirementOf({ authentication: { end_user } }: AppConfig): readonly string[] {
  if (end_user?.source === 'header') {
    return [`Calls without the user in the header ${end_user.header ?? 'x-end-user-id'} are refused.`];
  }
  if (end_user?.source !== 'issuer') return [];
  return [`Calls without a signed-in user are refused: a token of ${listed(end_user.issuer.issuer).join(', ')}.`];
}

function userMeaning(before: AppConfig, after: AppConfig, who: string): readonly string[] {
  const [was, is] = [sourceOf(before), sourceOf(after)];
  if (was === 'none' && is !== 'none')
    return ['Every caller loses access until it names its user.', ...requirementOf(after)];
  if (is === 'none' && was !== 'none')
    return [`Calls no longer belong to a user: ${who} and their limits do not count.`];
  const identified = [`Users are identified differently: ${who} and their counts are not carried over.`];
  if (was !== is) return [...identified, ...requirementOf(after)];
  const changed = leafDifferences(before.authentication.end_user, after.authentication.end_user);
  const find = (path: string) => changed.find((change) => change.path === path);
  const header = find('header');
  const tokenHeader = find('issuer.token_header');
  const accepted = changed.filter(({ path }) => TOKEN_RULES.has(path));
  return [
    ...(header === undefined ? [] : ['Callers must name the user in another header.', ...requirementOf(after)]),
    ...(find('issuer.user_id_claim') === undefined ? [] : identified),
    ...(accepted.some(narrows)
      ? [`Users whose tokens do not fit the new issuer settings lose access (up to ${who}).`]
      : accepted.length > 0
        ? ['Tokens that were refused before are accepted.']
        : []),
    ...(tokenHeader === undefined ? [] : ['Callers must send the token of the user in another header.']),
  ];
}

/** Settings of an issuer that decide which tokens are accepted. */
const TOKEN_RULES = new Set([
  ...['issuer.jwks_url', 'issuer.issuer', 'issuer.audience', 'issuer.required_claims'],
  'issuer.max_token_lifetime_seconds',
]);

/** Whether a token that was accepted may be refused. */
function narrows({ path, before, after }: FieldChange): boolean {
  if (path === 'issuer.max_token_lifetime_seconds') return Number(after) < Number(before);
  if (path === 'issuer.required_claims') return without(after, before).length > 0;
  return without(before, after).length > 0;
}

function attestMeaning(before: AppConfig, after: AppConfig, who: string): readonly string[] {
  const [was, is] = [appAttestOf(before), appAttestOf(after)];
  return [
    ...appleMeaning(was, is, who),
    ...androidMeaning('Android devices', keyAttestationOf(before), keyAttestationOf(after), who),
    ...androidMeaning('Android devices with Play Integrity', playIntegrityOf(before), playIntegrityOf(after), who),
    ...modeMeaning(before, after),
    ...versionMeaning(before, after),
  ];
}

const proofsOf = ({ authentication }: AppConfig) =>
  authentication.type === 'device_proofs' ? authentication.proofs : {};

/** What a failed proof gets, where that changes. */
function modeMeaning(before: AppConfig, after: AppConfig): readonly string[] {
  const were = new Map(Object.entries(proofsOf(before)).map(([name, proof]) => [name, modeOf(proof)]));
  return Object.entries(proofsOf(after)).flatMap(([name, proof]) => {
    const [was, is] = [were.get(name) ?? 'enforce', modeOf(proof)];
    if (was === is) return [];
    const isLooser = STRICTEST_FIRST.indexOf(is) > STRICTEST_FIRST.indexOf(was);
    return [`${isLooser ? 'Warning: ' : ''}${name} becomes ${isLooser ? 'looser' : 'stricter'} (${is}): ${GETS[is]}`];
  });
}

const STRICTEST_FIRST: readonly Mode[] = ['enforce', 'tier', 'observe'];
const GETS: Readonly<Record<Mode, string>> = {
  enforce: 'devices whose proof fails are refused, and tokens without a proof end.',
  tier: 'devices whose proof fails get a token with the limits of limits.unproven.',
  observe: 'devices whose proof fails get a token like any other.',
};

type Mode = NonNullable<NonNullable<AndroidProof>['mode']>;

const modeOf = (proof: { readonly mode?: Mode }): Mode => proof.mode ?? 'enforce';

const minVersionOf = ({ authentication }: AppConfig) =>
  authentication.type === 'device_proofs' ? authentication.min_app_version : undefined;

function versionMeaning(before: AppConfig, after: AppConfig): readonly string[] {
  const [was, is] = [minVersionOf(before), minVersionOf(after)];
  if (was === is) return [];
  if (is === undefined) return ['Every version of the app gets tokens.'];
  return [`Versions of the app below ${is} get no more tokens (lowest before: ${was ?? 'any'}).`];
}

const appAttestOf = ({ authentication }: AppConfig) =>
  authentication.type === 'api_key'
    ? undefined
    : authentication.type === 'device_proofs'
      ? authentication.proofs.app_attest
      : authentication.app_attest;

const keyAttestationOf = ({ authentication }: AppConfig) =>
  authentication.type === 'device_proofs' ? authentication.proofs.key_attestation : undefined;

const playIntegrityOf = ({ authentication }: AppConfig) =>
  authentication.type === 'device_proofs' ? authentication.proofs.play_integrity : undefined;

/** Whether App Attest devices keep their keys and tokens, because both configurations accept them. */
function isWidened(before: AppConfig, after: AppConfig): boolean {
  return appAttestOf(before) !== undefined && appAttestOf(after) !== undefined;
}

/** `modeMeaning` reports changes of the mode. */
const withoutMode = (proof: AndroidProof) => proof && { ...proof, mode: undefined };

/** What is demanded of the signals of Apple's systems. */
const signalRules = (apple: object) =>
  Object.entries(apple).filter(([name]) =>
    ['allowed_categories', 'min_bundle_version', 'require_signals'].includes(name),
  );

type AppAttest = ReturnType<typeof appAttestOf>;
type AndroidProof = ReturnType<typeof keyAttestationOf> | ReturnType<typeof playIntegrityOf>;

/** What decides which Android devices are accepted. */
function androidMeaning(devices: string, one: AndroidProof, other: AndroidProof, who: string): readonly string[] {
  if (isDeepStrictEqual(withoutMode(one), withoutMode(other))) return [];
  if (one === undefined) return [`${devices} get access.`];
  if (other === undefined) return [`${devices} lose access (up to ${who}).`];
  return [`${devices} are judged by the new rules from their next token on (up to ${who}).`];
}

function appleMeaning(one: AppAttest, other: AppAttest, who: string): readonly string[] {
  if (one === undefined) return other === undefined ? [] : ['Apple devices get access.'];
  if (other === undefined) return [`Apple devices lose access (up to ${who}).`];
  const isOtherApp = one.team_id !== other.team_id || one.bundle_id !== other.bundle_id;
  const [lost, gained] = [without(one.environments, other.environments), without(other.environments, one.environments)];
  return [
    ...(isOtherApp ? [`Devices of the previous app lose access (${who}).`] : []),
    ...(lost.length > 0 ? [`Devices of the environment ${lost.join(', ')} lose access.`] : []),
    ...(gained.length > 0 ? [`Devices of the environment ${gained.join(', ')} get access.`] : []),
    ...(isDeepStrictEqual(signalRules(one), signalRules(other))
      ? []
      : [`Devices of Apple are judged by the new rules from their next token on (up to ${who}).`]),
    ...frameworkMeaning(servesFramework(one), servesFramework(other)),
  ];
}

/** Whether the client of Apple's framework signs in. */
const servesFramework = (apple: object) => 'framework_client' in apple && apple.framework_client === true;

function frameworkMeaning(was: boolean, is: boolean): readonly string[] {
  if (was === is) return [];
  return [`Apps that call through Apple's language-model framework get ${is ? 'tokens' : 'no more tokens'}.`];
}

type Routed = Pick<AppConfig, 'routing'>;

function routingMeaning(before: Routed, after: Routed): readonly string[] {
  const [was, is] = [selectedOf(before), selectedOf(after)];
  const rewrites = leafDifferences(before.routing.model_rewrites, after.routing.model_rewrites);
  const lines = rewrites.map(({ path, after: to }) =>
    to === undefined ? `Calls of ${path} are no longer rewritten to another model.` : `Calls of ${path} get ${to}.`,
  );
  if (is === undefined) return was === undefined ? lines : ['Calls may reach every provider of the account.', ...lines];
  const policies = Object.entries(is).flatMap(([slug, policy]) => {
    const previous = was === undefined ? EVERYTHING : was[slug];
    return previous === undefined
      ? [`Calls may reach ${slug}.`, ...policyMeaning(slug, EVERYTHING, policy)]
      : policyMeaning(slug, previous, policy);
  });
  if (was === undefined) {
    return [`Calls of every provider but ${Object.keys(is).join(', ') || 'none'} are refused.`, ...policies, ...lines];
  }
  const removed = Object.keys(was).filter((slug) => is[slug] === undefined);
  return [...removed.map((slug) => `Calls of ${slug} are refused.`), ...policies, ...lines];
}

type Selected = Extract<AppConfig['routing']['providers'], { readonly mode: 'selected' }>['selected'];
type Policy = Selected[string];

const EVERYTHING: Policy = { allowed_paths: [], allowed_models: [] };

/** Undefined: every provider. */
function selectedOf({
  routing: { providers },
}: Routed): (Readonly<Record<string, Policy | undefined>> & Selected) | undefined {
  return providers.mode === 'selected' ? providers.selected : undefined;
}

function policyMeaning(slug: string, before: Policy, after: Policy): readonly string[] {
  const [was, is] = [pathsOf(before), pathsOf(after)];
  const changed = [...is].filter(
    ([path, allowed]) => was.has(path) && leafDifferences(was.get(path), allowed).length > 0,
  );
  return [
    ...listMeaning(slug, 'calls of', before.allowed_models, after.allowed_models),
    ...listMeaning(slug, 'calls of the paths', [...was.keys()], [...is.keys()]),
    ...changed.map(([path]) => `Through ${slug}, the path ${path} has other methods, or another model.`),
    ...ceilingMeaning(`Through ${slug}`, before.max_output_tokens, after.max_output_tokens),
  ];
}

const pathsOf = ({ allowed_paths }: Policy) =>
  new Map(
    allowed_paths.map((allowed) =>
      typeof allowed === 'string' ? [allowed, { path: allowed }] : [allowed.path, allowed],
    ),
  );

/** An empty list allows everything that the provider serves. */
function listMeaning(
  slug: string,
  what: string,
  before: readonly string[],
  after: readonly string[],
): readonly string[] {
  const told = (names: readonly string[], verb: string) => `Through ${slug}, ${what} ${names.join(', ')} are ${verb}.`;
  if (after.length === 0) return before.length === 0 ? [] : [`Through ${slug}, ${what} every kind are allowed.`];
  if (before.length === 0) return [told([`everything but ${after.join(', ')}`], 'refused')];
  const lost = before.filter((name) => !after.includes(name));
  const gained = after.filter((name) => !before.includes(name));
  return [...(lost.length > 0 ? [told(lost, 'refused')] : []), ...(gained.length > 0 ? [told(gained, 'allowed')] : [])];
}

function ceilingMeaning(where: string, before: number | undefined, after: number | undefined): readonly string[] {
  if (before === after) return [];
  if (after === undefined) return [`${where}, the number of output tokens is no longer limited.`];
  const was = before === undefined ? 'none' : String(before);
  return [`${where}, calls that ask for more than ${after} output tokens are refused (ceiling before: ${was}).`];
}

type Endpoints = NonNullable<AppConfig['endpoints']>;
type Endpoint = Endpoints[string];

function endpointMeaning(was: Endpoints, is: Endpoints): readonly string[] {
  const removed = Object.keys(was).filter((slug) => !Object.hasOwn(is, slug));
  const kept = Object.entries(is).flatMap(([slug, endpoint]) => {
    const previous = Object.hasOwn(was, slug) ? was[slug] : undefined;
    if (previous !== undefined) return servedMeaning(slug, previous, endpoint);
    const { provider, model } = endpoint;
    const told = `The endpoint ${slug} is new, served by ${provider} with ${model}.`;
    return [told, ...servedMeaning(slug, { provider, model, api_style: endpoint.api_style } as Endpoint, endpoint)];
  });
  return [...removed.map((slug) => `The endpoint ${slug} answers 404.`), ...kept];
}

/** What differs in how an endpoint is served. */
function servedMeaning(slug: string, before: Endpoint, after: Endpoint): readonly string[] {
  const isMoved = before.provider !== after.provider || before.model !== after.model;
  const [was, is] = [fallbacksOf(before), fallbacksOf(after)];
  const [open, ceiled] = [settingsOf(before), settingsOf(after)];
  return [
    ...(before.api_style !== after.api_style
      ? [`The endpoint ${slug} takes other requests: ${after.api_style} in place of ${before.api_style}.`]
      : []),
    ...(isMoved ? [`The endpoint ${slug} is served by ${after.provider} with ${after.model}.`] : []),
    ...(was === is ? [] : [`The endpoint ${slug} falls back to ${is === '' ? 'nothing' : is}.`]),
    ...leafDifferences(open.params, ceiled.params).map(({ path, after: value }) =>
      value === undefined
        ? `The endpoint ${slug} no longer sets ${path}.`
        : `The endpoint ${slug} sets ${path} to ${JSON.stringify(value)}.`,
    ),
    ...streamMeaning(`Answers of the endpoint ${slug}`, before.streams, after.streams),
    ...ceilingMeaning(`At the endpoint ${slug}`, open.max_output_tokens, ceiled.max_output_tokens),
  ];
}

const fallbacksOf = ({ fallback = [] }: Endpoint) =>
  fallback.map(({ provider, model }) => `${provider} with ${model}`).join(', then ');

/** A transcription endpoint has none of them. */
const settingsOf = (endpoint: Endpoint) =>
  endpoint.api_style === 'responses' ? endpoint : { params: undefined, max_output_tokens: undefined };

/** @param users that the application has; undefined: it is new. */
function limitMeaning(before: Limited, after: Limited, users: number | undefined): readonly string[] {
  return leafDifferences(before.limits, after.limits).map(({ path, before: was, after: is }) => {
    const [of, group] = path.split('.');
    const name = path
      .split('.')
      .slice(path.includes('tokens.') ? -2 : -1)
      .join('.');
    const each = users === undefined ? 'for each user' : `for each of ${counted(users, 'user')}`;
    const scope =
      of === 'per_user' ? each : of === 'groups' ? `for each group of "${group}"` : (SCOPES[of ?? ''] ?? WHOLE);
    const absent = name === 'thresholds' ? USUAL_THRESHOLDS : 'no limit';
    const change = users === undefined ? shown(is, absent) : `${shown(was, absent)} becomes ${shown(is, absent)}`;
    return `${NAMES[name] ?? name}: ${change}, ${scope}.`;
  });
}

function originMeaning(before: AppConfig, after: AppConfig): readonly string[] {
  const [was, is] = [before.allowed_origins ?? [], after.allowed_origins ?? []];
  return [
    ...was.filter((origin) => !is.includes(origin)).map((origin) => `Pages of ${origin} cannot call any more.`),
    ...is.filter((origin) => !was.includes(origin)).map((origin) => `Pages of ${origin} may call.`),
  ];
}

const WHOLE = 'for the application as a whole';
const SCOPES: Readonly<Record<string, string>> = { unproven: 'for all devices without a proof together' };

function streamMeaning(what: string, before: Streams, after: Streams): readonly string[] {
  const [was, is] = [before?.resume_seconds ?? 0, after?.resume_seconds ?? 0];
  const bytes = after?.max_bytes;
  if (was === is && (is === 0 || before?.max_bytes === bytes)) return [];
  if (is === 0) return [`${what} are no longer kept; those that are kept cannot be read any more.`];
  const most = bytes === undefined ? '' : `, up to ${bytes} bytes each`;
  return [`${what} are kept for ${is} seconds${most}, so that clients can resume them (before: ${was}).`];
}

type Streams = AppConfig['streams'];

type Limited = Pick<AppConfig, 'limits'>;

const NAMES: Readonly<Record<string, string>> = {
  per_minute: 'Requests per minute',
  per_day: 'Requests per day',
  'tokens.per_minute': 'Tokens per minute',
  'tokens.per_day': 'Tokens per day',
  header: 'Header that names the group',
  claim: 'Claim that names the group',
  max_usd: 'Largest budget of a run, in US dollars',
  daily_usd: 'Budget per day, in US dollars',
  weekly_usd: 'Budget per week, in US dollars',
  monthly_usd: 'Budget per month, in US dollars',
  total_usd: 'Budget in total, in US dollars',
  thresholds: 'Shares of a budget that webhooks report',
  allowed_endpoints: 'Endpoints that are left',
};

/** If a configuration names none. */
const USUAL_THRESHOLDS = '0.5, 0.8, 1 (as usual)';

const shown = (value: unknown, absent: string) =>
  value === undefined ? absent : Array.isArray(value) ? value.join(', ') || 'none' : String(value);

/** A member that accepts one value or several. */
const listed = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/** The values of a list, or a single value, that another one lacks. */
const without = (from: unknown, other: unknown) =>
  listed(from).filter((one) => !listed(other).some((another) => isDeepStrictEqual(one, another)));
