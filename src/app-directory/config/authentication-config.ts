import { ApiSchema } from '@nestjs/swagger';
import { Default, Optional, objectOf, Refused, Required, Tag, taggedUnion } from '../../common/fields/config-fields.js';
import { type Read, refined } from '../../common/fields/config-values.js';
import { DEFAULT_USER_HEADER } from '../../common/http/gateway-request.js';
import { credentialHeaders } from '../../upstreams/provider-dialect.js';
import { AppAttest, dottedNumbers } from './app-attest-config.js';
import { type Proofs, proofsConfig } from './device-proofs-config.js';
import { CARRIER_HEADERS, headerName, IssuerConfig } from './issuer-config.js';

/**
 * Headers that carry credentials or belong to the service, so none of them can hold a user id.
 *
 * Source: docs/reference/application-api.md#end-user-header.
 */
const notAUserHeader = () => new Set([...CARRIER_HEADERS, ...credentialHeaders()]);

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

/** Mobile applications, authenticated by device attestation. */
@ApiSchema({ name: 'AppDeviceAuthentication' })
export class DeviceAuthentication {
  @Tag('device_app_attest')
  readonly type: 'device_app_attest';

  @Required(taggedUnion([IssuerUser, InstallUser]), { description: 'Who the user is.' })
  readonly end_user: IssuerUser | InstallUser;

  @Required(objectOf(AppAttest))
  readonly app_attest: AppAttest;

  @Refused('only with type "device_proofs"')
  readonly proofs?: undefined;

  @Refused('only with type "device_proofs"')
  readonly min_app_version?: undefined;
}

/** Mobile applications of several platforms, each authenticated by the proof of its devices. */
@ApiSchema({ name: 'AppDeviceProofsAuthentication' })
export class DeviceProofsAuthentication {
  @Tag('device_proofs')
  readonly type: 'device_proofs';

  @Required(taggedUnion([IssuerUser, InstallUser]), { description: 'Who the user is.' })
  readonly end_user: IssuerUser | InstallUser;

  @Required(proofsConfig, { description: 'What devices may prove themselves with: at least one.' })
  readonly proofs: Proofs;

  @Optional(dottedNumbers, {
    description:
      'Lowest `X-App-Version` at registration and exchange, as dotted numbers; lower and other ones get 403 `app_version_too_old`.',
  })
  readonly min_app_version?: string;

  @Refused('only with type "device_app_attest"; put it into proofs')
  readonly app_attest?: undefined;
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

  @Refused('only with type "device_proofs"')
  readonly proofs?: undefined;

  @Refused('only with type "device_proofs"')
  readonly min_app_version?: undefined;

  @Optional(apiKeyUser, { description: 'Absent: calls belong to no user.' })
  readonly end_user?: HeaderUser | IssuerUser;
}

/** How callers authenticate, discriminated by `type`. */
export type Authentication = DeviceAuthentication | DeviceProofsAuthentication | ApiKeyAuthentication;

/**
 * Reads `authentication`. Device applications require a user source; for server applications it is optional.
 *
 * Source: docs/reference/management-api.md#application-configuration.
 */
export const authenticationConfig: Read<Authentication> = taggedUnion([
  DeviceAuthentication,
  DeviceProofsAuthentication,
  ApiKeyAuthentication,
]);

/** Whether calls of the application have a user, which per-user limits require. */
export function hasUserIdentity(authentication: Authentication): boolean {
  return authentication.end_user !== undefined;
}
