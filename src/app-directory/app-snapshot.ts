import { GatewayError } from '../common/errors/gateway-error.js';
import { type CompiledPathPolicy, compilePathPolicy, defaultPathPolicy } from '../upstreams/path-policy.rules.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import type { StoredConfig } from './app-config-parser.js';
import { type AppLimits, appLimits } from './app-limits.rules.js';
import type { AppConfig, AppStatus } from './config/app-config.js';
import { type ProviderPolicy, policyFor } from './config/provider-policy.rules.js';
import type { StreamsConfig } from './config/streams-config.js';

interface SnapshotIdentity {
  readonly id: string;
  readonly organizationId: string;
  readonly status: AppStatus;
}

/** The source of user ids; `none`: calls have no user. */
type UserSource = 'issuer' | 'app_install' | 'header' | 'none';

/** The permissions of an application for one provider, compiled for look-ups. */
export interface ProviderAccess {
  readonly paths: CompiledPathPolicy;
  /** Model names as clients send them. Empty: every priced model. */
  readonly allowedModels: ReadonlySet<string>;
  /** Absent: no limit. */
  readonly maxOutputTokens?: number;
}

/** An application whose stored configuration no longer parses; its calls fail with `internal_error`. */
interface UnreadableApp extends SnapshotIdentity {
  readonly configError: string;
}

/** An application for the hot path: parsed once, frozen, with all derived values precomputed. */
export interface ReadableApp extends SnapshotIdentity {
  readonly configError: null;
  readonly config: AppConfig;
  /** Replacements, keyed by the model name that the client sent. */
  readonly modelRewrites: ReadonlyMap<string, string>;
  readonly userSource: UserSource;
  /** The header with the user id, in lower case; only with user source `header`. */
  readonly userHeader: string | undefined;
  /** The header with an issuer token, in lower case; only when configured. */
  readonly tokenHeader: string | undefined;
  /** Undefined when nothing is limited. */
  readonly limits: AppLimits | undefined;
  /** The origins whose pages may call; undefined when there are none: its answers have no CORS headers. */
  readonly allowedOrigins: ReadonlySet<string> | undefined;
  /** Whether answers are kept, of the proxy or of any endpoint. */
  readonly keepsStreams: boolean;
  /**
   * How answers are kept; undefined: they are not.
   *
   * @param endpointSlug null on the proxy.
   */
  streamsOf(endpointSlug: string | null): StreamsConfig | undefined;
  /** The permissions for a provider of the account; undefined when the routing does not cover it. */
  accessTo(provider: { readonly slug: string; readonly type: ProviderType }): ProviderAccess | undefined;
}

/** A cached application, discriminated by `configError`. */
export type AppSnapshot = ReadableApp | UnreadableApp;

/** Builds the snapshot of an application from its row and its parsed configuration. */
export function toAppSnapshot({ id, organizationId, status }: SnapshotIdentity, stored: StoredConfig): AppSnapshot {
  if (stored.configError !== null)
    return Object.freeze({ id, organizationId, status, configError: stored.configError });
  const config = deepFrozen(stored.config);
  const user = config.authentication.end_user;
  return Object.freeze({
    id,
    organizationId,
    status,
    configError: null,
    config,
    modelRewrites: new Map(Object.entries(config.routing.model_rewrites)),
    userSource: user?.source ?? 'none',
    userHeader: user?.source === 'header' ? user.header : undefined,
    tokenHeader: user?.source === 'issuer' ? user.issuer.token_header : undefined,
    limits: appLimits(config.limits),
    allowedOrigins: config.allowed_origins?.length ? new Set(config.allowed_origins) : undefined,
    keepsStreams: [config, ...Object.values(config.endpoints)].some(
      ({ streams }) => (streams?.resume_seconds ?? 0) > 0,
    ),
    streamsOf: streamsTable(config),
    accessTo: accessTable(config),
  });
}

/**
 * Requires a configuration that parses.
 *
 * @throws internal_error the stored configuration no longer parses; each load logs the reason once.
 */
export function requireReadable(app: AppSnapshot): ReadableApp {
  if (app.configError === null) return app;
  throw new GatewayError('internal_error', { reason: 'app_config_unreadable' });
}

/**
 * Requires an existing, readable and active application.
 *
 * @throws app_not_found, internal_error (configuration unreadable), app_disabled; in this order.
 */
export function requireActive(found: AppSnapshot | undefined): ReadableApp {
  if (found === undefined) throw new GatewayError('app_not_found');
  const app = requireReadable(found);
  if (app.status !== 'active') throw new GatewayError('app_disabled');
  return app;
}

function streamsTable({ streams, endpoints }: AppConfig): ReadableApp['streamsOf'] {
  const kept = (config: StreamsConfig | undefined) => (config?.resume_seconds ? config : undefined);
  const ofApp = kept(streams);
  return (slug) => {
    const own = slug === null ? undefined : endpoints[slug]?.streams;
    return own === undefined ? ofApp : kept(own);
  };
}

interface KnownAccess {
  readonly type: ProviderType;
  readonly access: ProviderAccess | undefined;
}

/** Caches the results by slug. The type is compared because a slug can be reused for another type. */
function accessTable(config: AppConfig): ReadableApp['accessTo'] {
  const known = new Map<string, KnownAccess>();
  return (provider) => {
    const found = known.get(provider.slug);
    if (found !== undefined && found.type === provider.type) return found.access;
    const policy = policyFor(config, provider);
    const access = policy && toProviderAccess(policy, provider.type);
    known.set(provider.slug, { type: provider.type, access });
    return access;
  };
}

function toProviderAccess(policy: ProviderPolicy, type: ProviderType): ProviderAccess {
  const { allowedPaths, allowedModels, maxOutputTokens } = policy;
  return Object.freeze({
    paths: allowedPaths.length === 0 ? defaultPathPolicy(type) : compilePathPolicy(allowedPaths),
    allowedModels,
    maxOutputTokens,
  });
}

/** Freezes JSON in place, recursively. */
function deepFrozen<T>(json: T): T {
  if (typeof json !== 'object' || json === null || Object.isFrozen(json)) return json;
  for (const member of Object.values(json)) deepFrozen(member);
  return Object.freeze(json);
}
