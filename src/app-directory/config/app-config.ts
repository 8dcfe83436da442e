import { ApiExtraModels, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { Default, Optional, objectOf, Required } from '../../common/fields/config-fields.js';
import { memberPath, type ReadContext, type Table } from '../../common/fields/config-values.js';
import { type Authentication, authenticationConfig, hasUserIdentity } from './authentication-config.js';
import { endpointsConfig, type NamedEndpoint } from './endpoints-config.js';
import { isLimited, Limits, UNLIMITED, UNPROVEN_GROUP } from './limits-config.js';
import { allowedOrigins } from './origins-config.js';
import { Routing } from './routing-config.js';
import { type StreamsConfig, streamsConfig } from './streams-config.js';

/**
 * A disabled application refuses calls with `app_disabled`.
 *
 * Source: docs/reference/management-api.md#application-routes.
 */
export type AppStatus = 'active' | 'disabled';

const NO_LIMITS: Limits = { per_user: UNLIMITED, per_app: UNLIMITED };
const NO_ENDPOINTS: Table<NamedEndpoint> = Object.freeze(Object.create(null));

/**
 * The configuration of an application in its wire shape: type, rules and OpenAPI schema in one. Parsed, it is
 * normalised: defaults filled in, issuer and audience as lists, header names in lower case, canonical addresses. Only
 * `parseAppConfig` creates one.
 *
 * Source: docs/reference/management-api.md#application-configuration,
 * docs/reference/management-api.md#application-objects-and-ids.
 */
@ApiSchema({ name: 'AppConfig' })
export class AppConfig {
  @Required(authenticationConfig, { description: 'How callers authenticate.' })
  readonly authentication: Authentication;

  @Required(objectOf(Routing))
  readonly routing: Routing;

  @Default(objectOf(Limits), NO_LIMITS, { check: requireCallersForLimits })
  readonly limits: Limits;

  /** Keyed by the last segment of the endpoint's address. */
  @Default(endpointsConfig, NO_ENDPOINTS, {
    description: 'By slug, 1 to 64 of a-z, 0-9 and -: the last segment of the endpoint’s address.',
  })
  readonly endpoints: Table<NamedEndpoint>;

  @Optional(allowedOrigins, {
    description:
      'The origins whose pages may call the application, exactly as browsers send them: https, http on localhost, 127.0.0.1 or [::1], `capacitor://localhost`, `ionic://localhost`. Absent or empty: no CORS.',
  })
  readonly allowed_origins?: readonly string[];

  @Optional(streamsConfig, {
    description:
      'Keeps answers of models for a while, sealed, so that a client that lost its connection can read on. Absent: no byte of an answer is kept.',
  })
  readonly streams?: StreamsConfig;
}

const readAppConfig = objectOf(AppConfig);

/** The OpenAPI schema of a configuration. The class that uses it needs {@link WithAppConfig}. */
export const APP_CONFIG = { allOf: [{ $ref: getSchemaPath(AppConfig) }] };

/** Adds the schema of {@link APP_CONFIG} to the document. */
export const WithAppConfig = (): ClassDecorator => ApiExtraModels(AppConfig);

/**
 * Parses an application's configuration, sent or stored. Create, replace, validate, check and loading all use it. A
 * parsed configuration parses to itself.
 *
 * @param context which hosts may serve key sets over http; none when absent.
 * @throws invalid_request naming the first invalid place, as in `config.routing.providers.mode: is required`.
 * Source: docs/reference/management-api.md#application-configuration.
 */
export function parseAppConfig(raw: unknown, context?: ReadContext): AppConfig {
  return readAppConfig(raw, 'config', context);
}

function requireCallersForLimits(
  { per_user, groups = {}, runs, unproven }: Limits,
  { authentication }: Pick<AppConfig, 'authentication'>,
  path: string,
): void {
  if (isLimited(per_user) && !hasUserIdentity(authentication)) {
    throw invalidRequest(`${path}.per_user`, 'needs an application whose callers have a user identity');
  }
  const isOfIssuer = authentication.end_user?.source === 'issuer';
  // The others take gateway tokens, which phones hold: a phone must not choose its group or its run.
  const isOfBackends = authentication.type === 'api_key' && !isOfIssuer;
  for (const [name, { header, claim }] of Object.entries(groups)) {
    const at = memberPath(`${path}.groups`, name);
    if (header !== undefined && !isOfBackends)
      throw invalidRequest(`${at}.header`, 'needs an application whose callers send its API key; use claim');
    if (claim !== undefined && !isOfIssuer)
      throw invalidRequest(`${at}.claim`, 'needs an application whose users come from an issuer');
  }
  if (runs !== undefined && !isOfBackends)
    throw invalidRequest(`${path}.runs`, 'needs an application whose callers send its API key');
  if (unproven === undefined) return;
  if (authentication.type !== 'device_proofs')
    throw invalidRequest(`${path}.unproven`, 'needs an application with authentication "device_proofs"');
  if (Object.hasOwn(groups, UNPROVEN_GROUP))
    throw invalidRequest(`${path}.unproven`, `cannot be beside a group named "${UNPROVEN_GROUP}"`);
}
