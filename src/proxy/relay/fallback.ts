import type { Client } from 'undici';
import type { ProviderCall } from './provider-call.js';

/** What is left to try of a request whose target failed before anything reached the client. */
export interface FallbackChain {
  /** Whether further targets are left, if only to be found unusable when their turn comes. */
  readonly hasNext: boolean;
  /**
   * The next call that can be made, with a connection for it; `undefined` when none is left. What is asked for is made.
   *
   * @param reason why the target before failed, for the log.
   */
  next(reason: string): NextCall | undefined;
}

/** A call that is ready to go. */
export interface NextCall {
  readonly call: ProviderCall;
  readonly client: Client;
}
