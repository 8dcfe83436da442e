import type { GatewayRequest } from '../../common/http/gateway-request.js';
import type { CompiledPrice } from '../../pricing/model-price.js';
import type { OpenSecrets } from '../../providers/secret-patterns.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import type { UsageAdmission } from '../../usage/recording/usage-event.js';
import type { OriginPool } from '../connections/origin-pool.js';
import type { ProviderConnection } from '../connections/provider-connection.js';
import type { AddressRedaction } from '../relay/address-redaction.js';
import type { KeepRequest } from '../streams/kept-answers.service.js';

/** One validated call to one provider, ready to send. Immutable. */
export interface ProviderCall {
  /** The client's request, for refusals and log lines. */
  readonly request: GatewayRequest;
  readonly pool: OriginPool;
  readonly method: string;
  /** Base path, provider path and query. */
  readonly path: string;
  /** Flat list. */
  readonly headers: string[];
  readonly body: Buffer | readonly Buffer[] | undefined;
  /** The call is free, so the answer is not read for usage. */
  readonly isFree: boolean;
  readonly style: ApiStyle;
  /** The provider keeps objects that the answer names. */
  readonly keeps: boolean;
  readonly price: CompiledPrice | undefined;
  readonly withholdUsageChunk: boolean;
  readonly hostedTools: readonly string[];
  /** Prices of the models that tools can run. */
  readonly toolPrices: readonly CompiledPrice[];
  /** The provider key in plain text, to mask where the provider echoes it. */
  readonly credential: string;
  /** Decrypted secrets of the account; masked likewise. */
  readonly accountSecrets: OpenSecrets;
  /** Filter for addresses in the answer's headers. */
  readonly redaction: AddressRedaction;
  readonly admission: UsageAdmission;
  /** Absent where the answer is not kept. */
  readonly keep?: KeepRequest | undefined;
  /** Time limit until the provider's response headers. */
  readonly ttfbTimeoutMs: number;
  /** Further targets to call when this one fails; absent without fallbacks. */
  readonly chain?: FallbackChain | undefined;
}

/** Remaining targets of a request whose target failed before anything reached the client. */
export interface FallbackChain {
  /** Whether targets remain; they may still turn out to be unusable. */
  readonly hasNext: boolean;
  /**
   * Returns the next possible call with its connection; `undefined` when none is left. The caller must start the
   * returned call.
   *
   * @param reason why the previous target failed, for the log.
   * @param unansweredNanoUsd maximum that the previous targets may still charge, in whole nano-dollars; a target that the
   *   budget does not cover in addition is skipped.
   */
  next(reason: string, unansweredNanoUsd: number): NextCall | undefined;
  /** Ends the chain when an answer starts towards the client; releases the state kept for fallbacks. */
  end(): void;
}

/** A call that is ready to send. */
export interface NextCall {
  readonly call: ProviderCall;
  readonly connection: ProviderConnection;
}
