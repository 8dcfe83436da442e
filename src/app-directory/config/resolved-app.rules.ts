import type { Table } from '../../common/fields/config-values.js';
import type { AppConfig, AppStatus } from './app-config.js';
import type { Authentication } from './authentication-config.js';
import type { NamedEndpoint } from './endpoints-config.js';
import type { ScopeLimits } from './limits-config.js';
import { toMicroUsd } from './limits-config.js';
import { type AllowedPath, allowedPathOf } from './provider-policy.rules.js';
import type { StreamsConfig } from './streams-config.js';

/** The enforced limits of one scope; null is unlimited. */
interface ResolvedLimits {
  readonly requestsPerMinute: number | null;
  /** Per UTC day. */
  readonly requestsPerDay: number | null;
  /** Microdollars (1e-6 USD) per UTC month. */
  readonly monthlyBudgetMicrousd: number | null;
}

/** The enforced permissions for a selected provider; null is not a limit. */
interface ResolvedProvider {
  readonly allowedPaths: readonly AllowedPath[];
  readonly allowedModels: readonly string[];
  readonly maxOutputTokens: number | null;
}

/**
 * The effective settings of an application, shown beside its configuration.
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
  readonly allowedOrigins: readonly string[];
  /** Absent: answers are not kept. */
  readonly streams: StreamsConfig | undefined;
  readonly status: AppStatus;
}

/** The input of `resolveApp`. */
export interface ResolvableApp {
  readonly id: string;
  readonly name: string;
  readonly status: AppStatus;
  readonly config: AppConfig;
}

/**
 * Derives the effective settings of an application.
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
    allowedOrigins: config.allowed_origins ?? [],
    streams: config.streams,
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
