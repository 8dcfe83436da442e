import type { CompiledPrice } from '../../pricing/model-price.js';
import type { UsageReading } from '../../upstreams/usage/token-counts.js';
import type { CallEnding, UsageAdmission, UsageAttempt, UsageOutcome } from '../../usage/recording/usage-event.js';
import { seenOutputTokens } from '../admission/sent-usage.rules.js';
import { INTERRUPTED, lossOf } from '../round-trip/provider-failure.rules.js';
import { isSuccess } from './response-headers.rules.js';

/** Share of the total time reserved for each remaining target. */
const RESERVED_SHARE = 1 / 4;

/** State of a call at its end. */
interface EndedCall {
  readonly ending: CallEnding;
  readonly clientAborted: boolean;
  readonly price: CompiledPrice | undefined;
  readonly hostedTools: readonly string[];
  readonly toolPrices: readonly CompiledPrice[];
  readonly reading: UsageReading | undefined;
  /** Empty without an answer. */
  readonly contentType: string;
  /** Bytes of the answer read. */
  readonly bytes: number;
  /** Milliseconds since it began. */
  readonly elapsedMs: number;
}

/** @param call `status` is 0 without response headers. */
export function endingOf(call: {
  readonly isSent: boolean;
  readonly status: number;
  readonly isWhole: boolean;
}): CallEnding {
  if (!call.isSent) return 'unsent';
  if (call.status === 0) return 'unanswered';
  if (!isSuccess(call.status)) return 'refused';
  return call.isWhole ? 'whole' : 'cut';
}

type ChargeBounds = Pick<UsageAdmission, 'sentNanoUsd' | 'maxCostNanoUsd'>;

/** Maximum charge of a target that does not serve the request, in whole nano-dollars. */
export function maxChargeOf(ending: CallEnding, { sentNanoUsd, maxCostNanoUsd }: ChargeBounds): number {
  if (ending === 'unsent' || ending === 'refused') return 0;
  return ending === 'unanswered' ? sentNanoUsd : maxCostNanoUsd;
}

/** The outcome of a call, for its event. */
export function outcomeOf({ error, latencyMs }: UsageAttempt, call: EndedCall): UsageOutcome {
  const { ending, clientAborted, price, hostedTools, toolPrices, reading, contentType } = call;
  const isInterrupted = error === INTERRUPTED;
  // A call without an answer is not a provider failure when its client disconnected or the gateway ended it.
  const isAbandoned = ending === 'unanswered' && (clientAborted || isInterrupted);
  // A successful status promises no answer: the body may report an error.
  const hasFailed = reading?.failure !== undefined;
  const isServed = !hasFailed && (ending === 'whole' || ending === 'cut' || isAbandoned);
  return {
    ending,
    clientAborted,
    price,
    hostedTools,
    toolPrices,
    reading,
    contentType,
    status: isServed && (error === null || isInterrupted) ? 'ok' : 'provider_error',
    latencyMs,
    durationMs: ending === 'whole' ? Math.round(call.elapsedMs) : null,
    loss: error === null ? undefined : lossOf(error),
    seenOutputTokens: seenOutputTokens(contentType, call.bytes),
  };
}

/**
 * The state of a kept answer at its end. What the gateway itself ended is lost; an error that the answer reports is a
 * failure, also where the provider ended the answer well.
 *
 * @param error the failure besides the status.
 */
export function keptStateOf(
  error: string | null,
  isWhole: boolean,
  { status }: Pick<UsageOutcome, 'status'>,
): 'complete' | 'failed' | 'lost' {
  if (isWhole) return status === 'ok' ? 'complete' : 'failed';
  return error === null || error === INTERRUPTED ? 'lost' : 'failed';
}

/**
 * Whether an answer with this status triggers a fallback. Every other status is final.
 * Source: docs/reference/application-api.md#fallbacks.
 */
export function isTargetFailure(status: number): boolean {
  return status === 429 || status >= 500;
}

/** The time to first byte that the targets of one request share. */
export interface SharedTime {
  /** Limit for all targets together, in milliseconds. */
  readonly totalMs: number;
  /** Remaining part of it. */
  readonly leftMs: number;
  /** Number of targets after the next one. */
  readonly following: number;
}

/**
 * Computes the time limit of the next target until response headers. The last target gets all the remaining time. An
 * earlier one leaves a quarter of the total to each following target, but always gets its equal share. A stalled target
 * thus leaves time for fallbacks, and all targets together stay within the limit of one (ADR 0015).
 */
export function attemptTimeMs({ totalMs, leftMs, following }: SharedTime): number {
  const equalShare = leftMs / (following + 1);
  return Math.max(0, equalShare, leftMs - following * RESERVED_SHARE * totalMs);
}
