import type { ReadableApp } from '../app-directory/app-snapshot.js';
import type { GatewayRequest } from '../common/http/gateway-request.js';
import type { AuthMethod } from '../usage/usage-event.js';

/** Who makes a call, once their credential is proven. */
export interface Caller {
  readonly app: ReadableApp;
  /** The application's user, or null where the application has none. */
  readonly userId: string | null;
  /** The key that was used, also through an exchanged token. */
  readonly apiKeyId: string | null;
  readonly authMethod: AuthMethod;
  /** First 64 characters of `X-App-Version`. */
  readonly appVersion: string | null;
  /** Header the credential came in, in lower case; it never goes on. */
  readonly credentialHeader: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard of routes with `@CallerAccess()`. */
    caller?: Caller;
  }
}

/** A request of a caller, before and behind its guard. */
export interface CallerRequest extends GatewayRequest {
  caller?: Caller;
}

/** What a route asks of its callers beside a credential. */
export interface CallerNeeds {
  /** `X-App-Version` beside a gateway token; required when absent. */
  readonly appVersion?: 'optional';
}

/**
 * The caller the guard proved.
 *
 * @throws Error when the guard did not run: the route lacks its access decorator, which is our defect (500).
 */
export function requireCaller(request: CallerRequest): Caller {
  if (request.caller === undefined) throw new Error('No caller guard ran before this route.');
  return request.caller;
}
