import type { AppConfig } from '../app-directory/config/app-config.js';
import type { KnownProvider } from '../app-directory/config/app-references.rules.js';
import { proofWarnings } from '../app-directory/config/proof-warnings.rules.js';
import { dialectOf } from '../upstreams/provider-dialect.js';
import { routedProviders } from './app-readiness.rules.js';

/** What decodes integrity tokens, by `decode`. */
const CREDENTIALS_OF = {
  vendor: { kind: 'service_account', named: 'a service account' },
  local: { kind: 'response_keys', named: 'response keys' },
} as const;

/**
 * What an operator should know of a valid configuration.
 *
 * @param credentials kinds of the stored Play Integrity credentials; undefined: of an application that does not exist.
 * Source: docs/reference/management-api.md#application-check.
 */
export function appWarnings(
  { config, providers }: { readonly config: AppConfig; readonly providers: readonly KnownProvider[] },
  credentials: readonly string[] | undefined,
): string[] {
  return [
    ...proofWarnings(config.authentication),
    ...credentialWarnings(config, credentials),
    ...frameworkWarnings(config, providers),
  ];
}

function credentialWarnings({ authentication }: AppConfig, credentials: readonly string[] | undefined): string[] {
  const play = authentication.type === 'device_proofs' ? authentication.proofs.play_integrity : undefined;
  if (play === undefined || credentials === undefined) return [];
  const { kind, named } = CREDENTIALS_OF[play.decode];
  if (credentials.includes(kind)) return [];
  return [`play_integrity (decode: ${play.decode}) has no credentials: registrations get 503 without ${named}.`];
}

function frameworkWarnings(config: AppConfig, providers: readonly KnownProvider[]): string[] {
  const { authentication } = config;
  if (authentication.type !== 'device_proofs' || !authentication.proofs.app_attest?.framework_client) return [];
  if (authentication.end_user.source !== 'app_install') {
    return ['framework_client serves nobody: its client names no signed-in user, so end_user must be app_install.'];
  }
  const isServed = routedProviders(config, providers).some(({ type }) => dialectOf(type).speaksMessages);
  return isServed ? [] : ['framework_client serves nobody: the application reaches no provider of the Messages API.'];
}
