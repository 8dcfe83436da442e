import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import type { CallGroups } from '../../app-directory/group-value.rules.js';
import type { GatewayRequest } from '../../common/http/gateway-request.js';
import type { LimitedCall } from '../../limits/requests/request-counting.js';
import type { AuthMethod } from '../../usage/recording/usage-event.js';

/** An authenticated caller. */
export interface Caller {
  readonly app: ReadableApp;
  /** The user id; null when the application has no users. */
  readonly userId: string | null;
  /** The API key, also when it was exchanged for the token. */
  readonly apiKeyId: string | null;
  readonly authMethod: AuthMethod;
  /** First 64 characters of `X-App-Version`. */
  readonly appVersion: string | null;
  /** The groups that the gateway token names, by name; null with an API key: headers name them. */
  readonly tokenGroups: CallGroups | null;
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

/**
 * A caller's call in the form of request limits.
 *
 * @returns undefined when its requests are not limited.
 */
export function limitedCallOf({ app, userId }: Pick<Caller, 'app' | 'userId'>): LimitedCall | undefined {
  const ofUser = userId === null ? undefined : app.limits?.user?.requests;
  const ofApp = app.limits?.app?.requests;
  if (ofUser === undefined && ofApp === undefined) return undefined;
  return { organizationId: app.organizationId, appId: app.id, userId, user: ofUser, app: ofApp };
}
