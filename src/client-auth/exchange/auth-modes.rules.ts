import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import type { ApiKeyAuthentication, DeviceAuthentication } from '../../app-directory/config/authentication-config.js';
import type { IssuerConfig } from '../../app-directory/config/issuer-config.js';
import { GatewayError } from '../../common/errors/gateway-error.js';

/**
 * The authentication of an application with device attestation.
 *
 * @throws auth_method_not_supported 403 for any other application.
 * Source: docs/reference/application-api.md#device-attestation.
 */
export function requireDeviceApp({ config }: ReadableApp): DeviceAuthentication {
  if (config.authentication.type === 'device_app_attest') return config.authentication;
  throw new GatewayError('auth_method_not_supported', {
    message: 'The application does not use device attestation.',
    reason: 'not_an_attestation_app',
  });
}

/**
 * The identity provider of a server application with issuer users.
 *
 * @throws auth_method_not_supported 400 for a server application with header users or none: it calls providers with its
 * key.
 * Source: docs/reference/application-api.md#token-exchange.
 */
export function requireIssuer({ end_user }: ApiKeyAuthentication): IssuerConfig {
  if (end_user?.source === 'issuer') return end_user.issuer;
  throw new GatewayError('auth_method_not_supported', {
    status: 400,
    message: 'The application does not exchange tokens; call with its API key.',
    reason: 'no_issuer_identity',
  });
}

/** @throws auth_method_not_supported (400) an API key was sent where device attestation is required. */
export function refuseApiKey(body: object): void {
  if (!Object.hasOwn(body, 'api_key')) return;
  throw new GatewayError('auth_method_not_supported', {
    status: 400,
    message: 'api_key: the application takes device proofs, not API keys.',
    reason: 'api_key_on_attestation_app',
  });
}
