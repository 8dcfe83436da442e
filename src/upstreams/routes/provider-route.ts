import type { Secret } from '../../common/log/secret.js';
import type { ApiStyle, EndpointStyle } from '../api-style.rules.js';
import type { HeaderPair } from '../dialect-table.js';
import { dialectOf } from '../provider-dialect.js';
import type { ProviderType } from '../provider-types.js';
import type { GatewayType } from './gateway-types.js';

/** Who makes a call, for gateways that want to be told. */
export interface RoutedCaller {
  readonly appId: string;
  readonly userId: string | null;
}

/**
 * How the calls of one provider instance reach its provider: everything that differs between calling it directly and
 * calling it through an upstream gateway. Pure data and functions, made once per instance.
 * Source: docs/reference/application-api.md#provider-types.
 */
export interface ProviderRoute {
  readonly kind: 'direct' | GatewayType;
  /** Origin and base path, with the trailing slash to which `upstreamPath` is appended. */
  readonly baseUrl: string;
  /** Styles that can be called this way. */
  readonly apiStyles: readonly ApiStyle[];
  /** Provider path of each style a named endpoint can compose this way; empty for most. */
  readonly endpointPaths: ReadonlyMap<EndpointStyle, string>;
  /** What stands before model names on the wire; null = nothing. */
  readonly modelPrefix: string | null;
  /** Whose paths calls name. */
  readonly paths: 'provider' | 'gateway';
  /** The only providers that may serve behind a gateway that chooses; null = any. */
  readonly providerOnly: readonly string[] | null;
  /** Client headers that pass on this way only, in lower case. */
  readonly passedHeaders: ReadonlySet<string>;
  /** Whose key pays, where the way alone tells. */
  readonly credentialSource: 'direct' | 'byok' | null;
  /** Null: there is no cheap authenticated call. */
  readonly probe: RouteProbe | null;
  /** What a provider path becomes below `baseUrl`. */
  upstreamPath(path: string): string;
  /** The headers that carry the credential, the credential's first, then the fixed ones; in lower case. */
  credentialHeaders(secret: Secret): readonly HeaderPair[];
  /** Headers that tell the gateway who calls, names and values in turn; empty when it wants none. */
  callerHeaders(caller: RoutedCaller): readonly string[];
  /** Whether an answer of that style carries the provider's own cost, so that no price is needed. */
  reportsCost(style: ApiStyle): boolean;
}

/** The cheap authenticated GET that proves a credential. */
export interface RouteProbe {
  /** Below `baseUrl`, no leading slash. */
  readonly path: string;
  readonly headers: readonly HeaderPair[];
}

const NO_HEADERS: readonly string[] = Object.freeze([]);
const NO_PASSED_HEADERS: ReadonlySet<string> = new Set();

/** The way to a provider itself, at its type's own address or another. */
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
