import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Refusals } from '../../common/errors/refusals.js';
import { Log } from '../../common/log/log.js';
import { Environment } from '../../platform/config/environment.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { Traces } from '../../platform/traces/traces.service.js';
import { UsageRecorder } from '../../usage/usage-recorder.service.js';
import { AnswerBatch, SendBatch } from './turn-batches.js';
import { AbandonedAnswers, OpenAnswers } from './unfinished-answers.js';

/** Dependencies shared by all relays. */
@Injectable()
export class RelayParts {
  /** Maximum time to hold back a stream that a fallback can still replace. */
  readonly fallbackHoldMs: number;

  constructor(
    readonly clock: Clock,
    readonly log: Log,
    readonly refusals: Refusals,
    readonly recorder: UsageRecorder,
    readonly open: OpenAnswers,
    readonly abandoned: AbandonedAnswers,
    readonly batch: AnswerBatch,
    readonly sends: SendBatch,
    readonly metrics: Metrics,
    readonly traces: Traces,
    environment: Environment,
  ) {
    this.fallbackHoldMs = environment.FALLBACK_HOLD_MS;
  }
}
