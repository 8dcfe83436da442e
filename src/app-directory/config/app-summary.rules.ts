import type { AppConfig } from './app-config.js';
import type { Authentication } from './authentication-config.js';

/** The distinct slugs and types that a configuration names: selected providers, endpoint targets, fallbacks. */
export function referencedProviders({ routing, endpoints }: AppConfig): string[] {
  const selected = routing.providers.mode === 'selected' ? Object.keys(routing.providers.selected) : [];
  const targets = Object.values(endpoints).flatMap((endpoint) => [endpoint, ...endpoint.fallback]);
  return [...new Set([...selected, ...targets.map((target) => target.provider)])];
}

/** The number of distinct models that the selected providers are restricted to; zero without restrictions. */
export function allowedModelCount({ routing }: AppConfig): number {
  if (routing.providers.mode === 'all') return 0;
  const policies = Object.values(routing.providers.selected);
  return new Set(policies.flatMap((policy) => policy.allowed_models)).size;
}

/** The application's budget in US dollars per UTC month; null without one. */
export function monthlyBudgetUsd({ limits }: AppConfig): number | null {
  return limits.per_app.spending.monthly_usd;
}

export function authenticationType({ authentication }: AppConfig): Authentication['type'] {
  return authentication.type;
}

/** The bundle identifier of a mobile application; null for a server application. */
export function bundleId({ authentication }: AppConfig): string | null {
  if (authentication.type === 'api_key') return null;
  const { app_attest } = authentication.type === 'device_proofs' ? authentication.proofs : authentication;
  return app_attest?.bundle_id ?? null;
}
