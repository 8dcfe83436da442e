import type { AppConfig, AppStatus, Authentication, NamedEndpoint, ScopeLimits, Table } from './app-config.js';
import { toMicroUsd } from './limits-config.rules.js';
import { type AllowedPath, allowedPathOf } from './provider-policy.rules.js';

/** The limits of one scope as they are enforced; null is unlimited. */
interface ResolvedLimits {
  readonly requestsPerMinute: number | null;
  /** Per UTC day. */
  readonly requestsPerDay: number | null;
  /** Microdollars (1e-6 USD) per UTC month. */
  readonly monthlyBudgetMicrousd: number | null;
}

/** A selected provider as it is enforced; null is no ceiling. */
interface ResolvedProvider {
  readonly allowedPaths: readonly AllowedPath[];
  readonly allowedModels: readonly string[];
  readonly maxOutputTokens: number | null;
}

/**
 * What the service makes of an application, shown beside its configuration.
 *
 * Source: docs/reference/management-api.md#application-objects-and-ids.
 */
export interface ResolvedApp {
  readonly id: string;
  readonly name: string;
  readonly authentication: Authentication;
  readonly routing: {
    readonly providerMode: 'all' | 'selected';
    /** Keyed by slug or provider type; empty in mode `all`. */
    readonly providers: Table<ResolvedProvider>;
    readonly modelRewrites: Table<string>;
  };
  readonly limits: { readonly perUser: ResolvedLimits; readonly perApp: ResolvedLimits };
  readonly endpoints: Table<NamedEndpoint>;
  readonly status: AppStatus;
}

/** What of a stored application `resolveApp` reads. */
export interface ResolvableApp {
  readonly id: string;
  readonly name: string;
  readonly status: AppStatus;
  readonly config: AppConfig;
}

/**
 * Projects an application onto what is enforced at run time.
 *
 * Source: docs/reference/management-api.md#application-objects-and-ids.
 */
export function resolveApp({ id, name, status, config }: ResolvableApp): ResolvedApp {
  return {
    id,
    name,
    authentication: config.authentication,
    routing: {
      providerMode: config.routing.providers.mode,
      providers: resolvedProviders(config),
      modelRewrites: config.routing.model_rewrites,
    },
    limits: { perUser: resolvedLimits(config.limits.per_user), perApp: resolvedLimits(config.limits.per_app) },
    endpoints: config.endpoints,
    status,
  };
}

function resolvedProviders({ routing }: AppConfig): Table<ResolvedProvider> {
  const providers: Record<string, ResolvedProvider> = Object.create(null);
  if (routing.providers.mode === 'all') return providers;
  for (const [key, policy] of Object.entries(routing.providers.selected)) {
    providers[key] = {
      allowedPaths: policy.allowed_paths.map(allowedPathOf),
      allowedModels: policy.allowed_models,
      maxOutputTokens: policy.max_output_tokens ?? null,
    };
  }
  return providers;
}

function resolvedLimits({ requests, spending }: ScopeLimits): ResolvedLimits {
  return {
    requestsPerMinute: requests.per_minute,
    requestsPerDay: requests.per_day,
    monthlyBudgetMicrousd: spending.monthly_usd === null ? null : toMicroUsd(spending.monthly_usd),
  };
}
