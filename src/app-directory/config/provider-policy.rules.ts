import type { CapStyle } from '../../upstreams/api-style.rules.js';
import type { PathMethod } from '../../upstreams/path-policy.rules.js';
import type { AppConfig } from './app-config.js';
import type { AllowedPathEntry, SelectedProvider } from './routing-config.js';

/** One allowed path with its own rules. */
export interface AllowedPath {
  readonly path: string;
  readonly fixedModel?: string;
  readonly clamp?: CapStyle;
  readonly methods?: readonly PathMethod[];
}

/** The permissions of the proxy for one provider. */
export interface ProviderPolicy {
  /** Empty: the inference paths of the provider's type. */
  readonly allowedPaths: readonly AllowedPath[];
  /** Model names as clients send them. Empty: every priced model. */
  readonly allowedModels: ReadonlySet<string>;
  readonly maxOutputTokens?: number;
}

const UNRESTRICTED: ProviderPolicy = { allowedPaths: [], allowedModels: new Set() };

/** One policy object per parsed selection, so that callers can cache by identity. */
const policies = new WeakMap<SelectedProvider, ProviderPolicy>();

/**
 * The policy of an application for one provider; undefined when its routing does not cover the provider. A selection by
 * slug takes precedence over one by type. The same parsed configuration yields the same object.
 */
export function policyFor(
  { routing }: AppConfig,
  provider: { readonly slug: string; readonly type: string },
): ProviderPolicy | undefined {
  if (routing.providers.mode === 'all') return UNRESTRICTED;
  const selection = routing.providers.selected[provider.slug] ?? routing.providers.selected[provider.type];
  return selection === undefined ? undefined : policyOf(selection);
}

function policyOf(selection: SelectedProvider): ProviderPolicy {
  const existing = policies.get(selection);
  if (existing !== undefined) return existing;
  const policy: ProviderPolicy = {
    allowedPaths: selection.allowed_paths.map(allowedPathOf),
    allowedModels: new Set(selection.allowed_models),
    maxOutputTokens: selection.max_output_tokens,
  };
  policies.set(selection, policy);
  return policy;
}

/** The internal form of an entry of `allowed_paths`. */
export function allowedPathOf(entry: AllowedPathEntry): AllowedPath {
  if (typeof entry === 'string') return { path: entry };
  return { path: entry.path, fixedModel: entry.fixed_model, clamp: entry.clamp, methods: entry.methods };
}
