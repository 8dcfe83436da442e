import type { ReadableApp } from '../app-directory/app-snapshot.js';
import type { GatewayRequest } from '../common/http/gateway-request.js';
import type { AuthMethod } from '../usage/usage-event.js';

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
