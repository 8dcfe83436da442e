import type { Client } from 'undici';
import type { GatewayRequest } from '../../common/http/gateway-request.js';
import type { CompiledPrice } from '../../pricing/model-price.js';
import type { OpenSecrets } from '../../providers/open-secrets.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import type { UsageAdmission } from '../../usage/usage-event.js';
import type { ToldAddresses } from '../relay/told-addresses.js';
import type { OriginPool } from './origin-pool.js';

/** One call to one provider, judged and ready to go. Nothing in it changes any more. */
export interface ProviderCall {
  /** The client's request, for its refusal and its log line. */
  readonly request: GatewayRequest;
  readonly pool: OriginPool;
  readonly method: string;
  /** Base path, provider path and query. */
  readonly path: string;
  /** Flat list; of a body in pieces also its length. */
  readonly headers: string[];
  readonly body: Buffer | readonly Buffer[] | undefined;
  /** The answer is not searched for usage: there is none that costs. */
  readonly isFree: boolean;
  readonly style: ApiStyle;
  readonly price: CompiledPrice | undefined;
  readonly withholdUsageChunk: boolean;
  readonly hostedTools: readonly string[];
  /** The provider's key in clear, to be masked where the provider repeats it. */
  readonly credential: string;
  /** Of its account; masked likewise. */
  readonly accountSecrets: OpenSecrets;
  /** Which addresses its answer may tell. */
  readonly told: ToldAddresses;
  readonly admission: UsageAdmission;
  /** How long the provider may take until its response headers. */
  readonly ttfbTimeoutMs: number;
  /** What else may be tried when this target fails; absent where there is nothing. */
  readonly chain?: FallbackChain | undefined;
}

/** What is left to try of a request whose target failed before anything reached the client. */
export interface FallbackChain {
  /** Whether further targets are left, if only to be found unusable when their turn comes. */
  readonly hasNext: boolean;
  /**
   * The next call that can be made, with a connection for it; `undefined` when none is left. What is asked for is made.
   *
   * @param reason why the target before failed, for the log.
   * @param unheardNanoUsd what it and those before it may charge for all the same, at most, in whole nano-dollars: a
   *   target that cannot be paid for beside that is passed over.
   */
  next(reason: string, unheardNanoUsd: number): NextCall | undefined;
  /** An answer is on its way to the client: nothing else is tried, and what was kept for it is let go. */
  end(): void;
}

/** A call that is ready to go. */
export interface NextCall {
  readonly call: ProviderCall;
  readonly client: Client;
}
