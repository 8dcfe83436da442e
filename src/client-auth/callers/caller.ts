import type { AppLimits } from '../../app-directory/app-limits.rules.js';
import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import type { CallGroups } from '../../app-directory/group-value.rules.js';
import type { GatewayRequest } from '../../common/http/gateway-request.js';
import type { LimitedCall } from '../../limits/requests/request-counting.js';
import type { AuthMethod } from '../../usage/recording/usage-event.js';
import type { UnprovenMode } from './gateway-token.rules.js';

/** An authenticated caller. */
export interface Caller {
  readonly app: ReadableApp;
  /** The user id; null when the application has no users. */
  readonly userId: string | null;
  /** The API key, also when it was exchanged for the token. */
  readonly apiKeyId: string | null;
  readonly authMethod: AuthMethod;
  /** First 64 characters of `X-App-Version`; of the framework's client the attested version. */
  readonly appVersion: string | null;
  /** The groups that the gateway token names, by name; null with an API key: headers name them. */
  readonly tokenGroups: CallGroups | null;
  /** The mode in which a failed proof got the gateway token; null for callers that proved themselves. */
  readonly unproven: UnprovenMode | null;
  /** The header of the credential, in lower case; it is never forwarded. */
  readonly credentialHeader: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `CallerGuard`. */
    caller?: Caller;
  }
}

/** A request of a caller, before and after authentication. */
export interface CallerRequest extends GatewayRequest {
  caller?: Caller;
}

/** Requirements of a route besides the credential. */
export interface CallerNeeds {
  /** `X-App-Version` with a gateway token; required when absent. */
  readonly appVersion?: 'optional';
}

/**
 * The caller that the guard authenticated.
 *
 * @throws Error when the guard did not run: the route lacks its access decorator, a defect (500).
 */
export function requireCaller(request: CallerRequest): Caller {
  if (request.caller === undefined) throw new Error('No caller guard ran before this route.');
  return request.caller;
}

/** Whether nobody knows the user: the install proved nothing, and nobody signs in. */
export function isUnprovenInstall({ app, unproven }: Pick<Caller, 'app' | 'unproven'>): boolean {
  return unproven !== null && app.userSource === 'app_install';
}

type LimitedCaller = Pick<Caller, 'app' | 'userId' | 'unproven'>;

/**
 * The limits of the caller's user. An unproven install has none: it is another user with each token.
 *
 * Source: docs/reference/application-api.md#modes-of-proofs.
 */
export function limitsOfUser({ app, userId, unproven }: LimitedCaller): AppLimits['user'] {
  return userId === null || isUnprovenInstall({ app, unproven }) ? undefined : app.limits?.user;
}

/**
 * A caller's call in the form of request limits.
 *
 * @returns undefined when its requests are not limited.
 */
export function limitedCallOf(caller: LimitedCaller): LimitedCall | undefined {
  const { app, userId } = caller;
  const ofUser = limitsOfUser(caller)?.requests;
  const ofApp = app.limits?.app?.requests;
  if (ofUser === undefined && ofApp === undefined) return undefined;
  return { organizationId: app.organizationId, appId: app.id, userId, user: ofUser, app: ofApp };
}
