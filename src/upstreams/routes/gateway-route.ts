import type { Secret } from '../../common/log/secret.js';
import type { ApiStyle, EndpointStyle } from '../api-style.rules.js';
import { dialectOf } from '../provider-dialect.js';
import type { ProviderType } from '../provider-types.js';
import type { GatewayBaseUrls, GatewayPlace, GatewayRouteOptions, GatewayType } from './gateway-types.js';
import type { ProviderRoute, RoutedCaller, RouteProbe } from './provider-route.js';

/** Path segment of each type that `cf_aig` serves. */
const CF_AIG_SLUGS: ReadonlyMap<ProviderType, string> = new Map([
  ['openai', 'openai'],
  ['anthropic', 'anthropic'],
  ['xai', 'grok'],
  ['gemini', 'google-ai-studio'],
  ['perplexity', 'perplexity-ai'],
]);

/** Client headers for `cf_aig` itself. Source: docs/reference/application-api.md#request-headers. */
const CF_AIG_PASSED_HEADERS: ReadonlySet<string> = new Set([
  'cf-aig-cache-ttl',
  'cf-aig-skip-cache',
  'cf-aig-max-attempts',
  'cf-aig-backoff',
  'cf-aig-retry-delay',
]);

/** Model name namespace of each type that `vercel` serves. */
const VERCEL_PREFIXES: ReadonlyMap<ProviderType, string> = new Map([
  ['openai', 'openai/'],
  ['anthropic', 'anthropic/'],
  ['gemini', 'google/'],
  ['xai', 'spacexai/'],
  ['perplexity', 'perplexity/'],
  ['deepseek', 'deepseek/'],
  ['moonshot', 'moonshotai/'],
]);

const VERCEL_STYLES: readonly ApiStyle[] = Object.freeze(['responses', 'chat_completions', 'anthropic_messages']);
const VERCEL_ENDPOINTS: ReadonlyMap<EndpointStyle, string> = new Map([['responses', 'v1/responses']]);
const NO_ENDPOINTS: ReadonlyMap<EndpointStyle, string> = new Map();
const VERCEL_PROBE: RouteProbe = Object.freeze({ path: 'v1/credits', headers: [] });
const VERCEL_PASSED_HEADERS: ReadonlySet<string> = new Set();

const SERVED: ReadonlyMap<string, ReadonlyMap<ProviderType, string>> = new Map([
  ['cf_aig', CF_AIG_SLUGS],
  ['vercel', VERCEL_PREFIXES],
]);

const MAX_REPORTED_USER = 256;
const MAX_REPORTED_TAG = 64;
/** Values that a header carries unchanged: printable ASCII, blanks inside only. */
const SENDABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const NOT_ASCII = /[\x7f-\uffff]/g;
const API_VERSION = 'v1/';

/** Whether gateways of that kind serve providers of that type; false for an unknown kind. */
export function servesType(gateway: GatewayType, type: ProviderType): boolean {
  return SERVED.get(gateway)?.has(type) ?? false;
}

/**
 * Whether an instance may set {@link GatewayRouteOptions} for this kind.
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export function takesRouteOptions(gateway: GatewayType): boolean {
  return gateway === 'vercel';
}

/**
 * Returns the route to a provider through an upstream gateway.
 *
 * @param options of the instance; ignored for kinds without options.
 * @throws TypeError for a type the gateway does not serve (see {@link servesType}), and for an invalid place;
 *   validation on write refuses both.
 * Source: docs/reference/application-api.md#provider-types.
 */
export function gatewayRoute(
  type: ProviderType,
  place: GatewayPlace,
  options: GatewayRouteOptions | null,
  baseUrls: GatewayBaseUrls,
): ProviderRoute {
  switch (place.type) {
    case 'cf_aig':
      return cfAigRoute(type, place, baseUrls.cf_aig);
    case 'vercel':
      return vercelRoute(type, options, baseUrls.vercel);
  }
}

/** Transparent: provider paths and bodies pass unchanged, except for the `v1/` prefix of OpenAI paths. */
function cfAigRoute(type: ProviderType, { accountId, gatewayId }: GatewayPlace, baseUrl: string): ProviderRoute {
  const slug = CF_AIG_SLUGS.get(type) ?? notServed('cf_aig', type);
  const dialect = dialectOf(type);
  const upstreamPath = type === 'openai' ? withoutVersion : unchanged;
  const { probe } = dialect;
  return Object.freeze({
    kind: 'cf_aig',
    baseUrl: `${baseUrl}${segment(accountId)}/${segment(gatewayId)}/${slug}/`,
    apiStyles: dialect.apiStyles,
    endpointPaths: dialect.endpointStyles,
    modelPrefix: null,
    paths: 'provider',
    providerOnly: null,
    passedHeaders: CF_AIG_PASSED_HEADERS,
    credentialSource: 'byok',
    probe: probe && { path: upstreamPath(probe.path), headers: probe.headers },
    upstreamPath,
    credentialHeaders: (secret: Secret) => [
      ['cf-aig-authorization', `Bearer ${secret.reveal()}`],
      ...dialect.extraHeaders,
    ],
    callerHeaders: cfAigCallerHeaders,
    reportsCost: (style: ApiStyle) => dialect.reportsCost(style),
  } satisfies ProviderRoute);
}

/**
 * One API for all providers: paths belong to the gateway and models have a namespace. Its answers are not read for a
 * cost.
 */
function vercelRoute(type: ProviderType, options: GatewayRouteOptions | null, baseUrl: string): ProviderRoute {
  const prefix = VERCEL_PREFIXES.get(type) ?? notServed('vercel', type);
  return Object.freeze({
    kind: 'vercel',
    baseUrl,
    apiStyles: VERCEL_STYLES,
    // Named endpoints of style `responses` require native support by the type, even where the gateway could translate.
    endpointPaths: dialectOf(type).endpointStyles.has('responses') ? VERCEL_ENDPOINTS : NO_ENDPOINTS,
    modelPrefix: options?.modelPrefix ?? prefix,
    paths: 'gateway',
    providerOnly: options?.providerOnly ?? null,
    passedHeaders: VERCEL_PASSED_HEADERS,
    credentialSource: null,
    probe: VERCEL_PROBE,
    upstreamPath: unchanged,
    credentialHeaders: (secret: Secret) => [['authorization', `Bearer ${secret.reveal()}`]],
    callerHeaders: vercelCallerHeaders,
    reportsCost: () => false,
  } satisfies ProviderRoute);
}

function notServed(gateway: GatewayType, type: ProviderType): never {
  throw new TypeError(`${gateway} does not serve ${type}`);
}

/** Encodes one path segment. Percent-encoding does not neutralise dot segments, so they are rejected. */
function segment(name: string | undefined): string {
  if (name === undefined || name === '' || name === '.' || name === '..') throw new TypeError('not a path segment');
  return encodeURIComponent(name);
}

function unchanged(path: string): string {
  return path;
}

function withoutVersion(path: string): string {
  return path.startsWith(API_VERSION) ? path.slice(API_VERSION.length) : path;
}

function cfAigCallerHeaders({ appId, userId }: RoutedCaller): readonly string[] {
  const metadata = JSON.stringify({ app_id: appId, ...(userId === null ? {} : { user_id: userId }) });
  return ['cf-aig-metadata', metadata.replace(NOT_ASCII, escapedUnit)];
}

/** JSON escape of a UTF-16 unit that headers cannot carry. */
function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Omits values that cannot be sent unchanged: a wrong name is worse than none. */
function vercelCallerHeaders({ appId, userId }: RoutedCaller): readonly string[] {
  const headers: string[] = [];
  if (userId !== null && isSendable(userId, MAX_REPORTED_USER)) headers.push('ai-reporting-user', userId);
  const tag = `app:${appId}`;
  if (isSendable(tag, MAX_REPORTED_TAG)) headers.push('ai-reporting-tags', tag);
  return headers;
}

function isSendable(text: string, maxLength: number): boolean {
  return text.length <= maxLength && SENDABLE.test(text);
}
