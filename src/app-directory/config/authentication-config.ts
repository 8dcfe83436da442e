import { ApiSchema } from '@nestjs/swagger';
import { Default, Optional, objectOf, Refused, Required, Tag, taggedUnion } from '../../common/fields/config-fields.js';
import { described, distinctWords, type Read, refined, text } from '../../common/fields/config-values.js';
import { DEFAULT_USER_HEADER } from '../../common/http/gateway-request.js';
import { credentialHeaders } from '../../upstreams/provider-dialect.js';
import { CARRIER_HEADERS, headerName, IssuerConfig } from './issuer-config.js';

const ENVIRONMENTS = ['production', 'development'] as const;
const DEFAULT_ENVIRONMENTS: readonly AttestEnvironment[] = ['production'];
const MAX_BUNDLE_ID_LENGTH = 255;
const BUNDLE_ID = /^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/;

/**
 * Headers that carry credentials or belong to the service, so none of them can hold a user id.
 *
 * Source: docs/reference/application-api.md#end-user-header.
 */
const notAUserHeader = () => new Set([...CARRIER_HEADERS, ...credentialHeaders()]);

/** Environment of a device key. */
export type AttestEnvironment = (typeof ENVIRONMENTS)[number];

/** The user id is a claim of a verified token. */
@ApiSchema({ name: 'AppIssuerUser' })
export class IssuerUser {
  @Tag('issuer')
  readonly source: 'issuer';

  @Refused('only with source "header"')
  readonly header?: undefined;

  @Required(objectOf(IssuerConfig))
  readonly issuer: IssuerConfig;
}

/** The user id is the attested installation. */
@ApiSchema({ name: 'AppInstallUser' })
class InstallUser {
  @Tag('app_install')
  readonly source: 'app_install';

  @Refused('only with source "issuer"')
  readonly issuer?: undefined;

  @Refused('only with source "header"')
  readonly header?: undefined;
}

/** The backend sends the user id in a request header. */
@ApiSchema({ name: 'AppHeaderUser' })
export class HeaderUser {
  @Tag('header')
  readonly source: 'header';

  @Refused('only with source "issuer"')
  readonly issuer?: undefined;

  /** Lower case. */
  @Default(headerName(notAUserHeader), DEFAULT_USER_HEADER, {
    description: 'Returned in lower case.',
    showDefault: true,
  })
  readonly header: string;
}

@ApiSchema({ name: 'AppNoUser' })
class NoUser {
  @Tag('none', { description: 'The same as leaving `end_user` out.' })
  readonly source: 'none';

  @Refused('only with source "issuer"')
  readonly issuer?: undefined;

  @Refused('only with source "header"')
  readonly header?: undefined;
}

/** The mobile application of a device key. */
@ApiSchema({ name: 'AppAttest' })
export class AppAttest {
  @Required(text({ pattern: /^[A-Z0-9]{10}$/, problem: 'must be ten capital letters or digits' }))
  readonly team_id: string;

  @Required(
    described(
      { type: 'string', pattern: BUNDLE_ID.source, maxLength: MAX_BUNDLE_ID_LENGTH },
      text({
        max: MAX_BUNDLE_ID_LENGTH,
        pattern: BUNDLE_ID,
        problem: 'must be a bundle identifier such as com.example.app',
      }),
    ),
  )
  readonly bundle_id: string;

  /** At least one, no duplicates. */
  @Default(distinctWords(ENVIRONMENTS, 'must not name an environment twice'), DEFAULT_ENVIRONMENTS, {
    showDefault: true,
  })
  readonly environments: readonly AttestEnvironment[];
}

/** Mobile applications, authenticated by device attestation. */
@ApiSchema({ name: 'AppDeviceAuthentication' })
export class DeviceAuthentication {
  @Tag('device_app_attest')
  readonly type: 'device_app_attest';

  @Required(taggedUnion([IssuerUser, InstallUser]), { description: 'Who the user is.' })
  readonly end_user: IssuerUser | InstallUser;

  @Required(objectOf(AppAttest))
  readonly app_attest: AppAttest;
}

const apiKeyUser: Read<HeaderUser | IssuerUser | undefined> = refined(
  taggedUnion([HeaderUser, IssuerUser, NoUser]),
  (user) => (user.source === 'none' ? undefined : user),
);

/** Server applications, authenticated by an application key; without `end_user` calls have no user. */
@ApiSchema({ name: 'AppApiKeyAuthentication' })
export class ApiKeyAuthentication {
  @Tag('api_key')
  readonly type: 'api_key';

  @Refused('only with type "device_app_attest"')
  readonly app_attest?: undefined;

  @Optional(apiKeyUser, { description: 'Absent: calls belong to no user.' })
  readonly end_user?: HeaderUser | IssuerUser;
}

/** How callers authenticate, discriminated by `type`. */
export type Authentication = DeviceAuthentication | ApiKeyAuthentication;

/**
 * Reads `authentication`. Device applications require a user source; for server applications it is optional.
 *
 * Source: docs/reference/management-api.md#application-configuration.
 */
export const authenticationConfig: Read<Authentication> = taggedUnion([DeviceAuthentication, ApiKeyAuthentication]);

/** Whether calls of the application have a user, which per-user limits require. */
export function hasUserIdentity(authentication: Authentication): boolean {
  return authentication.end_user !== undefined;
}
