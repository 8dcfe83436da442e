import { GatewayError } from '../common/errors/gateway-error.js';
import { type CompiledPathPolicy, compilePathPolicy, defaultPathPolicy } from '../upstreams/path-policy.rules.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import type { StoredConfig } from './app-config-parser.js';
import { type AppLimits, appLimits } from './app-limits.rules.js';
import type { AppConfig, AppStatus } from './config/app-config.js';
import { type ProviderPolicy, policyFor } from './config/provider-policy.rules.js';

interface SnapshotIdentity {
  readonly id: string;
  readonly organizationId: string;
  readonly status: AppStatus;
}

/** Where the id of an application's users comes from; `none` = its calls belong to nobody. */
type UserSource = 'issuer' | 'app_install' | 'header' | 'none';

/** What an application may do with one provider, ready for look-ups. */
export interface ProviderAccess {
  readonly paths: CompiledPathPolicy;
  /** Empty: every priced model. Names as clients send them. */
  readonly allowedModels: ReadonlySet<string>;
  /** Absent: no ceiling. */
  readonly maxOutputTokens?: number;
}

/** An application whose stored configuration no longer parses; its calls are answered `internal_error`. */
interface UnreadableApp extends SnapshotIdentity {
  readonly configError: string;
}

/** An application as the hot path reads it: parsed once, frozen, everything derived from it computed beforehand. */
export interface ReadableApp extends SnapshotIdentity {
  readonly configError: null;
  readonly config: AppConfig;
  /** Replacements by the model name a client sent. */
  readonly modelRewrites: ReadonlyMap<string, string>;
  readonly userSource: UserSource;
  /** The header that names the user, in lower case; only with user source `header`. */
  readonly userHeader: string | undefined;
  /** The header an issuer token may come in, in lower case; only when one is configured. */
  readonly tokenHeader: string | undefined;
  /** What its calls are held against; undefined where nothing is limited. */
  readonly limits: AppLimits | undefined;
  /** What the application may do with a provider of its account; undefined when its routing does not cover it. */
  accessTo(provider: { readonly slug: string; readonly type: ProviderType }): ProviderAccess | undefined;
}

/** An application in memory, told apart by `configError`. */
export type AppSnapshot = ReadableApp | UnreadableApp;

/** Makes the snapshot of an application from its row and its configuration as read. */
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
    accessTo: accessTable(config),
  });
}

/**
 * The application, when its configuration can be used.
 *
 * @throws internal_error the stored configuration no longer parses; the log says why, once a load.
 */
export function requireReadable(app: AppSnapshot): ReadableApp {
  if (app.configError === null) return app;
  throw new GatewayError('internal_error', { reason: 'app_config_unreadable' });
}

/**
 * The application a client calls, when it takes calls.
 *
 * @throws app_not_found, internal_error (configuration unreadable), app_disabled; in this order.
 */
export function requireActive(found: AppSnapshot | undefined): ReadableApp {
  if (found === undefined) throw new GatewayError('app_not_found');
  const app = requireReadable(found);
  if (app.status !== 'active') throw new GatewayError('app_disabled');
  return app;
}

interface KnownAccess {
  readonly type: ProviderType;
  readonly access: ProviderAccess | undefined;
}

/** Answers are kept by slug. A slug may have come to mean another type after its provider was deleted. */
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

/** Freezes JSON in place, to its last member. */
function deepFrozen<T>(json: T): T {
  if (typeof json !== 'object' || json === null || Object.isFrozen(json)) return json;
  for (const member of Object.values(json)) deepFrozen(member);
  return Object.freeze(json);
}
