import { Injectable } from '@nestjs/common';
import { Log } from '../../common/log/log.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import type { RequestTrace } from '../../platform/traces/request-trace.js';
import { Traces } from '../../platform/traces/traces.service.js';
import { ProviderHealth } from '../../providers/health/provider-health.service.js';
import type { UsageAttempt, UsageOutcome } from '../../usage/recording/usage-event.js';
import type { ProviderCall } from '../round-trip/provider-call.js';
import { tracedRequest } from '../round-trip/traced-call.rules.js';
import { verdictOf } from './provider-verdict.rules.js';

/** Logs, metrics and traces of provider calls, and what they say about the provider. */
@Injectable()
export class CallTelemetry {
  constructor(
    private readonly log: Log,
    private readonly metrics: Metrics,
    private readonly traces: Traces,
    private readonly health: ProviderHealth,
  ) {}

  /** Begins the trace of a request; `undefined` without a collector of traces. */
  begin(call: ProviderCall): RequestTrace | undefined {
    return this.traces.calls?.begin(tracedRequest(call));
  }

  /** Counts the answer of a provider. @param ttfbMs from the call to the head of the answer. */
  answered({ admission }: ProviderCall, status: number, ttfbMs: number): void {
    this.metrics.providerAnswered(admission.providerType, status, ttfbMs);
  }

  /** Counts a call that its provider did not answer. */
  unanswered({ admission }: ProviderCall): void {
    this.metrics.providerFailed(admission.providerType);
  }

  /** Notes how a call ended; a request that goes to several targets has several. */
  ended({ admission }: ProviderCall, attempt: UsageAttempt, outcome: UsageOutcome): void {
    const verdict = verdictOf(attempt, outcome);
    if (verdict !== undefined) this.health.note(admission.providerId, verdict);
  }

  /** Logs that no answer came in time. */
  timedOut({ admission, ttfbTimeoutMs }: ProviderCall): void {
    const { eventId, providerSlug, route } = admission;
    const timeoutSeconds = Math.round(ttfbTimeoutMs) / 1000;
    this.log.event('provider_ttfb_timeout', { eventId, provider: providerSlug, route, timeoutSeconds });
  }

  /** Logs why the answer of a provider was cut. */
  brokenOff({ admission }: ProviderCall, error: Error): void {
    const { eventId, providerSlug, route } = admission;
    this.log.event('provider_stream_failed', { eventId, provider: providerSlug, route, error: error.message });
  }
}
