import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { ProviderInstance } from '../../providers/provider-instance.js';

/**
 * Whether the client may sign in at this address: the application switched it on, its users are installs, and the
 * provider is of the Messages API and among those that the application reaches.
 *
 * Source: docs/reference/application-api.md#framework-client.
 */
export function isOffered(app: ReadableApp, provider: ProviderInstance | undefined): boolean {
  const { authentication } = app.config;
  if (authentication.type !== 'device_proofs' || authentication.end_user.source !== 'app_install') return false;
  if (authentication.proofs.app_attest?.framework_client !== true || provider === undefined) return false;
  return provider.dialect.speaksMessages && app.accessTo(provider) !== undefined;
}

/** The refusal of whatever the client cannot have here; it asks nowhere again. */
export function notOffered(): GatewayError {
  return new GatewayError('not_found', { reason: 'framework_client_not_offered' });
}

/**
 * An error with the status by which the client knows it: 401 where another key may help, 503 for a failure of the
 * service.
 *
 * @param step a failed proof is 401 for a token, 403 for a registration.
 * Source: docs/reference/application-api.md#framework-client.
 */
export function statedForClient(error: unknown, step: 'register' | 'token_exchange'): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { code, message, reason } = error;
  if (code === 'internal_error' && reason !== undefined) {
    return new GatewayError('service_unavailable', { reason, cause: error });
  }
  const isUnauthorized = code === 'auth_required' || (code === 'attest_failed' && step === 'token_exchange');
  return isUnauthorized ? new GatewayError(code, { status: 401, message, reason, cause: error }) : error;
}
