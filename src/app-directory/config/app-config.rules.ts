import { invalidRequest } from '../../common/errors/gateway-error.js';
import { openObject } from '../../common/fields/config-reader.js';
import type { AppConfig, Limits, NamedEndpoint, Table } from './app-config.js';
import { authenticationConfig, hasUserIdentity } from './authentication-config.rules.js';
import { endpointsConfig } from './endpoints-config.rules.js';
import type { IssuerTrust } from './issuer-config.rules.js';
import { isLimited, limitsConfig, UNLIMITED } from './limits-config.rules.js';
import { routingConfig } from './routing-config.rules.js';

const ROOT = 'config';
const NO_LIMITS: Limits = { per_user: UNLIMITED, per_app: UNLIMITED };
const NO_ENDPOINTS: Table<NamedEndpoint> = Object.freeze(Object.create(null));
const HTTPS_ONLY: IssuerTrust = { allowsHttp: () => false };

/**
 * Parses an application's configuration, sent or stored. Create, replace, validate, check and loading all use it. A
 * parsed configuration parses to itself.
 *
 * @param trust hosts whose key set may be fetched over http; none when absent.
 * @throws invalid_request naming the first invalid place, as in `config.routing.providers.mode: is required`.
 * Source: docs/reference/management-api.md#application-configuration.
 */
export function parseAppConfig(raw: unknown, trust: IssuerTrust = HTTPS_ONLY): AppConfig {
  const reader = openObject(raw, ROOT, ['authentication', 'routing', 'limits', 'endpoints']);
  const authentication = reader.required('authentication', authenticationConfig(trust));
  const routing = reader.required('routing', routingConfig);
  const limits = reader.withDefault('limits', limitsConfig, NO_LIMITS);
  if (isLimited(limits.per_user) && !hasUserIdentity(authentication)) {
    throw invalidRequest(`${ROOT}.limits.per_user`, 'needs an application whose callers have a user identity');
  }
  return { authentication, routing, limits, endpoints: reader.withDefault('endpoints', endpointsConfig, NO_ENDPOINTS) };
}
