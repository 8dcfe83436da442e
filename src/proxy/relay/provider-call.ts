import type { GatewayRequest } from '../../common/http/gateway-request.js';
import type { CompiledPrice } from '../../pricing/model-price.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import type { UsageAdmission } from '../../usage/usage-event.js';
import type { FallbackChain } from './fallback.js';
import type { OriginPool } from './origin-pool.js';

/** A body in pieces that are sent one after the other, and the length of all of them. */
export interface BodyPieces {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
}

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
  readonly body: Buffer | readonly Buffer[];
  readonly style: ApiStyle;
  readonly price: CompiledPrice | undefined;
  readonly withholdUsageChunk: boolean;
  readonly hostedTools: readonly string[];
  /** The provider's key in clear, to be masked where the provider repeats it. */
  readonly credential: string;
  readonly admission: UsageAdmission;
  /** How long the provider may take until its response headers. */
  readonly ttfbTimeoutMs: number;
  /** What else may be tried when this target fails; absent where there is nothing. */
  readonly chain?: FallbackChain | undefined;
}
