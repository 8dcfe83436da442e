import type { Secret } from '../../common/log/secret.js';
import type { ApiStyle, EndpointStyle } from '../api-style.rules.js';
import type { HeaderPair } from '../dialect-table.js';
import { dialectOf } from '../provider-dialect.js';
import type { ProviderType } from '../provider-types.js';
import type { GatewayType } from './gateway-types.js';

/** The caller, for gateways that accept caller metadata. */
export interface RoutedCaller {
  readonly appId: string;
  readonly userId: string | null;
}

/**
 * How calls of one provider instance reach the provider: everything that differs between a direct call and a call
 * through an upstream gateway. Pure data and functions, created once per instance.
 * Source: docs/reference/application-api.md#provider-types.
 */
export interface ProviderRoute {
  readonly kind: 'direct' | GatewayType;
  /** Origin and base path with a trailing slash; `upstreamPath` is appended. */
  readonly baseUrl: string;
  /** Styles available on this route. */
  readonly apiStyles: readonly ApiStyle[];
  /** Provider path of each named-endpoint style that the gateway can compose on this route; empty for most routes. */
  readonly endpointPaths: ReadonlyMap<EndpointStyle, string>;
  /** Prefix of model names on the wire; null = none. */
  readonly modelPrefix: string | null;
  /** Whether calls use the paths of the provider or of the gateway. */
  readonly paths: 'provider' | 'gateway';
  /** The only providers that a translating gateway may use; null = any. */
  readonly providerOnly: readonly string[] | null;
  /** Client headers that only this route forwards, in lower case. */
  readonly passedHeaders: ReadonlySet<string>;
  /** Owner of the key that pays; null where the route does not determine it. */
  readonly credentialSource: 'direct' | 'byok' | null;
  /** Null: there is no cheap authenticated call. */
  readonly probe: RouteProbe | null;
  /** Maps a provider path to the path below `baseUrl`. */
  upstreamPath(path: string): string;
  /** Headers with the credential first, then the fixed ones; names in lower case. */
  credentialHeaders(secret: Secret): readonly HeaderPair[];
  /** Caller metadata for the gateway, names and values alternating; empty when the route has none. */
  callerHeaders(caller: RoutedCaller): readonly string[];
  /** Whether an answer of that style contains the provider's own cost, so that no price is needed. */
  reportsCost(style: ApiStyle): boolean;
}

/** The cheap authenticated GET that verifies a credential. */
export interface RouteProbe {
  /** Below `baseUrl`, no leading slash. */
  readonly path: string;
  readonly headers: readonly HeaderPair[];
}

const NO_HEADERS: readonly string[] = Object.freeze([]);
const NO_PASSED_HEADERS: ReadonlySet<string> = new Set();

/** Returns the direct route to a provider, at its type's base URL or the given one. */
export function directRoute(type: ProviderType, baseUrl: string | null): ProviderRoute {
  const dialect = dialectOf(type);
  return Object.freeze({
    kind: 'direct',
    baseUrl: baseUrl ?? dialect.baseUrl,
    apiStyles: dialect.apiStyles,
    endpointPaths: dialect.endpointStyles,
    modelPrefix: null,
    paths: 'provider',
    providerOnly: null,
    passedHeaders: NO_PASSED_HEADERS,
    credentialSource: 'direct',
    probe: dialect.probe,
    upstreamPath: (path: string) => path,
    credentialHeaders: (secret: Secret) => [
      [dialect.credentialHeader, dialect.credentialValue(secret.reveal())],
      ...dialect.extraHeaders,
    ],
    callerHeaders: () => NO_HEADERS,
    reportsCost: (style: ApiStyle) => dialect.reportsCost(style),
  } satisfies ProviderRoute);
}
