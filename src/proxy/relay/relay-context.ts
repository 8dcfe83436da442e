import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Refusals } from '../../common/errors/refusals.js';
import { Log } from '../../common/log/log.js';
import { Environment } from '../../platform/config/environment.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { Traces } from '../../platform/traces/traces.service.js';
import { UsageRecorder } from '../../usage/recording/usage-recorder.service.js';
import type { ProviderCall } from '../exchange/provider-call.js';
import { TurnBatch } from '../turn-batch.js';
import { AbandonedAnswers, OpenAnswers } from './open-answers.js';
import { SendBatch } from './send-batch.js';

/** What all relays share: their dependencies, and how they log. */
@Injectable()
export class RelayContext {
  /** Maximum time to hold back a stream that a fallback can still replace. */
  readonly fallbackHoldMs: number;

  constructor(
    readonly clock: Clock,
    readonly log: Log,
    readonly refusals: Refusals,
    readonly recorder: UsageRecorder,
    readonly open: OpenAnswers,
    readonly abandoned: AbandonedAnswers,
    readonly turn: TurnBatch,
    readonly sends: SendBatch,
    readonly metrics: Metrics,
    readonly traces: Traces,
    environment: Environment,
  ) {
    this.fallbackHoldMs = environment.FALLBACK_HOLD_MS;
  }

  logTimeout({ admission, ttfbTimeoutMs }: ProviderCall): void {
    const { eventId, providerSlug, route } = admission;
    const timeoutSeconds = Math.round(ttfbTimeoutMs) / 1000;
    this.log.event('provider_ttfb_timeout', { eventId, provider: providerSlug, route, timeoutSeconds });
  }

  /** Logs why the answer of a provider was cut. */
  logBrokenStream({ admission }: ProviderCall, error: Error): void {
    const { eventId, providerSlug, route } = admission;
    this.log.event('provider_stream_failed', { eventId, provider: providerSlug, route, error: error.message });
  }
}
