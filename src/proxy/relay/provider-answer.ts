import type { Clock } from '../../common/clock.js';
import { RequestTimings } from '../../common/http/gateway-request.js';
import type { TracedCall } from '../../platform/traces/span.js';
import type { UsageReading } from '../../upstreams/usage/token-counts.js';
import { createUsageReader, NOTHING_USED, type UsageReader } from '../../upstreams/usage/usage-reader.js';
import type { CallEnding, UsageAttempt, UsageOutcome } from '../../usage/recording/usage-event.js';
import { readingOfAsked } from '../admission/asked-usage.rules.js';
import { UsageChunkFilter } from '../body/usage-chunk-filter.js';
import { type ResponseHead, singleHeader } from '../connections/response-head.rules.js';
import type { ProviderCall } from '../round-trip/provider-call.js';
import type { ReceivedHead } from '../round-trip/provider-round-trip.js';
import { tracedCall } from '../round-trip/traced-call.rules.js';
import { AnswerBody } from './answer-body.js';
import { BufferedStreamHead } from './buffered-stream-head.js';
import { outcomeOf } from './call-outcome.rules.js';
import type { AnswerHead } from './client-answer.js';
import { answerHead, isEventStream, isSuccess } from './response-headers.rules.js';

/**
 * The answer of one target while it is read: its status and times, the part of a stream that is still held back, and
 * the usage that its bytes state.
 */
export class ProviderAnswer {
  /** Transforms the bytes for the client. */
  readonly body: AnswerBody;
  readonly timings: RequestTimings;
  readonly #startedMs: number;
  #reader: UsageReader | undefined;
  #streamHead: BufferedStreamHead | undefined;
  #status = 0;
  #contentType = '';
  /** Bytes read so far. */
  #bytes = 0;

  constructor(
    private readonly call: ProviderCall,
    private readonly clock: Clock,
  ) {
    this.body = new AnswerBody(call.credential, call.accountSecrets);
    this.timings = call.request.timings ?? new RequestTimings();
    this.#startedMs = clock.monotonicMs();
  }

  /** 0 before the head. */
  get status(): number {
    return this.#status;
  }

  /** Whether this is the stream of a served request. */
  get isStream(): boolean {
    return isSuccess(this.#status) && isEventStream(this.#contentType);
  }

  /** The start of the stream, while it is held back. */
  get streamHead(): BufferedStreamHead | undefined {
    return this.#streamHead;
  }

  /** Notes status and time of the head, and how usage is read from the body. */
  begin({ status, headers }: ResponseHead): void {
    this.#status = status;
    this.timings.providerTtfbMs = this.clock.monotonicMs() - this.#startedMs;
    this.#contentType = singleHeader(headers, 'content-type') ?? '';
    if (!isSuccess(status)) return;
    const { style, keeps, admission, withholdUsageChunk, isFree } = this.call;
    const { providerType: type, reportsCost } = admission;
    this.#reader = isFree
      ? NOTHING_USED
      : createUsageReader({
          style,
          type,
          reportsCost,
          keeps,
          contentType: this.#contentType,
          tier: admission.sent.tier,
        });
    if (withholdUsageChunk && this.isStream) this.body.withhold(new UsageChunkFilter());
  }

  /** The head for the client. */
  headOf({ head, isDecoded }: ReceivedHead): AnswerHead {
    const { credential, accountSecrets, redaction } = this.call;
    const secrets = accountSecrets.patternsWith(credential);
    const isWhole = !isDecoded && !this.body.isFiltered;
    return answerHead(head, { secrets, isWhole, timings: this.timings, redaction });
  }

  /** Holds the stream back from here on. @param onExpiry called after `holdMs`. */
  hold(head: AnswerHead, holdMs: number, onExpiry: () => void): void {
    this.#streamHead = new BufferedStreamHead(head, holdMs, onExpiry);
  }

  /** Ends the holding. @returns what was held, once. */
  open(): BufferedStreamHead | undefined {
    const streamHead = this.#streamHead;
    this.#streamHead = undefined;
    return streamHead;
  }

  /** Reads the usage in the next bytes. */
  read(bytes: Buffer): void {
    this.#bytes += bytes.length;
    this.#reader?.push(bytes);
  }

  /** The entry of this target in the event. @param error the failure besides the status. */
  attempt(error: string | null): UsageAttempt {
    const { providerSlug, model } = this.call.admission;
    const latencyMs = Math.round(this.timings.providerTtfbMs || this.clock.monotonicMs() - this.#startedMs);
    return { providerSlug, model, status: this.#status || null, latencyMs, error };
  }

  /** Ends the reading. */
  outcome(attempt: UsageAttempt, ending: CallEnding, clientAborted: boolean): UsageOutcome {
    const { price, hostedTools, toolPrices, isFree, admission } = this.call;
    const read = this.#reader?.finish();
    const reading = isFree ? read : readingOfAsked(read, price, { asked: admission.sent.asked, ending });
    const [contentType, bytes] = [this.#contentType, this.#bytes];
    const elapsedMs = this.clock.monotonicMs() - this.#startedMs;
    const ended = { ending, clientAborted, price, hostedTools, toolPrices, reading, contentType, bytes, elapsedMs };
    return outcomeOf(attempt, ended);
  }

  traced(error: string | null, reading: UsageReading | undefined): TracedCall {
    return tracedCall(this.call, { startedMs: this.#startedMs, status: this.#status, error, reading });
  }
}
