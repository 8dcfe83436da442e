import { invalidRequest } from '../../common/errors/gateway-error.js';
import { listOf, type ObjectReader, oneOf, openObject, type Read, text } from '../../common/fields/config-reader.js';
import { credentialHeaders } from '../../upstreams/provider-dialect.js';
import type {
  ApiKeyAuthentication,
  AppAttest,
  AttestEnvironment,
  Authentication,
  DeviceAuthentication,
  HeaderUser,
  IssuerUser,
} from './app-config.js';
import { CARRIER_HEADERS, headerName, type IssuerTrust, issuerConfig } from './issuer-config.rules.js';

const DEFAULT_ENVIRONMENTS: readonly AttestEnvironment[] = ['production'];
const MAX_BUNDLE_ID_LENGTH = 255;
/** Source: docs/reference/management-api.md#authentication-configuration. */
export const DEFAULT_USER_HEADER = 'x-end-user-id';

/**
 * Headers that carry credentials or belong to the service, so none of them can hold a user id.
 *
 * Source: docs/reference/application-api.md#end-user-header.
 */
const notAUserHeader = () => new Set([...CARRIER_HEADERS, ...credentialHeaders()]);

const AUTHENTICATION_MEMBERS = ['type', 'end_user', 'app_attest'] as const;
const USER_MEMBERS = ['source', 'issuer', 'header'] as const;
type UserReader = ObjectReader<(typeof USER_MEMBERS)[number]>;

/**
 * Reads `authentication`. Device applications require a user source; for server applications it is optional.
 *
 * @param trust the hosts whose key set may be fetched over http.
 * Source: docs/reference/management-api.md#application-configuration.
 */
export function authenticationConfig(trust: IssuerTrust): Read<Authentication> {
  const device = deviceAuthentication(trust);
  const apiKey = apiKeyAuthentication(trust);
  return (value, path) => {
    const reader = openObject(value, path, AUTHENTICATION_MEMBERS);
    const type = reader.required('type', oneOf(['device_app_attest', 'api_key']));
    return type === 'device_app_attest' ? device(reader) : apiKey(reader);
  };
}

/** Whether calls of the application have a user, which per-user limits require. */
export function hasUserIdentity(authentication: Authentication): boolean {
  return authentication.end_user !== undefined;
}

type AuthenticationReader = ObjectReader<(typeof AUTHENTICATION_MEMBERS)[number]>;

function deviceAuthentication(trust: IssuerTrust): (reader: AuthenticationReader) => DeviceAuthentication {
  const endUser: Read<DeviceAuthentication['end_user']> = (value, path) => {
    const reader = openObject(value, path, USER_MEMBERS);
    const source = reader.required('source', oneOf(['issuer', 'app_install']));
    if (source === 'issuer') return issuerUser(reader, trust);
    refuseOthers(reader, []);
    return { source };
  };
  return (reader) => ({
    type: 'device_app_attest',
    end_user: reader.required('end_user', endUser),
    app_attest: reader.required('app_attest', appAttest),
  });
}

function apiKeyAuthentication(trust: IssuerTrust): (reader: AuthenticationReader) => ApiKeyAuthentication {
  const endUser: Read<HeaderUser | IssuerUser | undefined> = (value, path) => {
    const reader = openObject(value, path, USER_MEMBERS);
    const source = reader.required('source', oneOf(['header', 'issuer', 'none']));
    if (source === 'issuer') return issuerUser(reader, trust);
    if (source === 'header') return headerUser(reader);
    refuseOthers(reader, []);
    return undefined;
  };
  return (reader) => {
    reader.refuse('app_attest', 'only with type "device_app_attest"');
    const endUserRead = reader.withDefault('end_user', endUser, undefined);
    return endUserRead === undefined ? { type: 'api_key' } : { type: 'api_key', end_user: endUserRead };
  };
}

function issuerUser(reader: UserReader, trust: IssuerTrust): IssuerUser {
  refuseOthers(reader, ['issuer']);
  return { source: 'issuer', issuer: reader.required('issuer', issuerConfig(trust)) };
}

function headerUser(reader: UserReader): HeaderUser {
  refuseOthers(reader, ['header']);
  return { source: 'header', header: reader.withDefault('header', headerName(notAUserHeader()), DEFAULT_USER_HEADER) };
}

function refuseOthers(reader: UserReader, kept: readonly ('issuer' | 'header')[]): void {
  for (const member of ['issuer', 'header'] as const) {
    if (!kept.includes(member)) reader.refuse(member, `only with source "${member}"`);
  }
}

const environments: Read<readonly AttestEnvironment[]> = (value, path) => {
  const named = listOf(oneOf(['production', 'development']), { min: 1 })(value, path);
  if (new Set(named).size < named.length) throw invalidRequest(path, 'must not name an environment twice');
  return named;
};

const appAttest: Read<AppAttest> = (value, path) => {
  const reader = openObject(value, path, ['team_id', 'bundle_id', 'environments']);
  return {
    team_id: reader.required(
      'team_id',
      text({ pattern: /^[A-Z0-9]{10}$/, problem: 'must be ten capital letters or digits' }),
    ),
    bundle_id: reader.required(
      'bundle_id',
      text({
        max: MAX_BUNDLE_ID_LENGTH,
        pattern: /^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/,
        problem: 'must be a bundle identifier such as com.example.app',
      }),
    ),
    environments: reader.withDefault('environments', environments, DEFAULT_ENVIRONMENTS),
  };
};
