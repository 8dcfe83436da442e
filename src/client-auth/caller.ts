import type { ReadableApp } from '../app-directory/app-snapshot.js';
import type { GatewayRequest } from '../common/http/gateway-request.js';

/** Who makes a call, once their credential is proven. */
export interface Caller {
  readonly app: ReadableApp;
  /** The application's user, or null where the application has none. */
  readonly userId: string | null;
  /** The key that was used, also through an exchanged token. */
  readonly apiKeyId: string | null;
  readonly authMethod: 'attest' | 'api_key';
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
