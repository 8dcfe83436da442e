import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import type {
  ApiKeyAuthentication,
  Authentication,
  DeviceAuthentication,
} from '../../app-directory/config/authentication-config.js';
import {
  meantProofs,
  PROOF_NAMES,
  type ProofName,
  type Proofs,
  soleAppAttest,
} from '../../app-directory/config/device-proofs-config.js';
import type { IssuerConfig } from '../../app-directory/config/issuer-config.js';
import { isBelowVersion } from '../../common/dotted-version.rules.js';
import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { UnprovenMode } from '../callers/gateway-token.rules.js';
import type { AuthAttempt } from './auth-attempts.js';

/** The proofs that an application with device attestation accepts. */
export interface DeviceApp {
  readonly end_user: DeviceAuthentication['end_user'];
  readonly proofs: Proofs;
  /** Minimum claimed version; undefined: any. */
  readonly minAppVersion: string | undefined;
  /** Whether requests name their proof; otherwise the member is ignored like any unknown one. */
  readonly isProofNamed: boolean;
}

/** `undefined` for an application without device attestation. */
function deviceAppOf(authentication: Authentication): DeviceApp | undefined {
  if (authentication.type === 'api_key') return undefined;
  const { end_user } = authentication;
  if (authentication.type === 'device_app_attest') {
    const proofs = soleAppAttest(authentication.app_attest);
    return { end_user, proofs, minAppVersion: undefined, isProofNamed: false };
  }
  const { proofs, min_app_version: minAppVersion } = authentication;
  return { end_user, proofs, minAppVersion, isProofNamed: true };
}

/**
 * The devices of an application with device attestation.
 *
 * @throws auth_method_not_supported 403 for any other application.
 * Source: docs/reference/application-api.md#device-attestation.
 */
export function requireDeviceApp({ config }: ReadableApp): DeviceApp {
  const device = deviceAppOf(config.authentication);
  if (device !== undefined) return device;
  throw new GatewayError('auth_method_not_supported', {
    message: 'The application does not use device attestation.',
    reason: 'not_an_attestation_app',
  });
}

/**
 * The proof that a request names.
 *
 * @param body as sent.
 * @returns `undefined` for none, where App Attest is among the proofs.
 * @throws invalid_request; auth_method_not_supported (400) a proof that the application does not accept. Source:
 * docs/reference/application-api.md#device-attestation.
 */
export function proofNamed({ proofs, isProofNamed }: DeviceApp, body: object): ProofName | undefined {
  if (!isProofNamed) return 'app_attest';
  const taken = PROOF_NAMES.filter((name) => proofs[name] !== undefined);
  const sent: unknown = Object.hasOwn(body, 'proof') ? Reflect.get(body, 'proof') : undefined;
  if (sent === undefined && proofs.app_attest !== undefined) return undefined;
  if (sent === undefined) throw invalidRequest('proof', `is required: ${taken.join(' or ')}`);
  if (typeof sent !== 'string') throw invalidRequest('proof', 'must be text');
  const name = taken.find((one) => one === sent);
  if (name !== undefined) return name;
  throw new GatewayError('auth_method_not_supported', {
    status: 400,
    message: `proof: the application accepts ${taken.join(' or ')}.`,
    reason: 'proof_not_configured',
  });
}

/**
 * Checks the version that the client claims.
 *
 * @param attempt the framework's client claims none.
 * @throws app_version_too_old, in every mode.
 * Source: docs/reference/application-api.md#device-attestation.
 */
export function requireClaimedVersion(
  { minAppVersion: minimum }: DeviceApp,
  { appVersion, isFrameworkClient }: Pick<AuthAttempt, 'appVersion' | 'isFrameworkClient'>,
): void {
  if (minimum === undefined || isFrameworkClient || !isBelowVersion(appVersion, minimum)) return;
  throw new GatewayError('app_version_too_old', {
    message: `The app is too old: X-App-Version must be at least ${minimum}. Update the app.`,
    reason: 'app_version_too_low',
    data: { minimum, kind: 'app_version' },
  });
}

const LOOSEST_FIRST: readonly UnprovenMode[] = ['observe', 'tier'];

/**
 * The result of a failed proof.
 *
 * @param proof null: a signature of an unknown key, which may be of each proof that signs; the loosest counts.
 * @returns `undefined`: a refusal.
 * Source: docs/reference/application-api.md#modes-of-proofs.
 */
export function leniencyOf({ proofs }: DeviceApp, proof: ProofName | null): UnprovenMode | undefined {
  const meant = meantProofs(proof);
  return LOOSEST_FIRST.find((mode) => meant.some((name) => proofs[name]?.mode === mode));
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
    message: 'api_key: the application accepts device proofs, not API keys.',
    reason: 'api_key_on_attestation_app',
  });
}
