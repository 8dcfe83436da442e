import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Refusals } from '../../common/errors/refusals.js';
import { Log } from '../../common/log/log.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { Traces } from '../../platform/traces/traces.service.js';
import { UsageRecorder } from '../../usage/usage-recorder.service.js';
import { AbandonedAnswers } from './abandoned-answers.js';
import { AnswerBatch } from './answer-batch.js';
import { SendBatch } from './send-batch.js';

/** What every relay shares. */
@Injectable()
export class RelayParts {
  constructor(
    readonly clock: Clock,
    readonly log: Log,
    readonly refusals: Refusals,
    readonly recorder: UsageRecorder,
    readonly abandoned: AbandonedAnswers,
    readonly batch: AnswerBatch,
    readonly sends: SendBatch,
    readonly metrics: Metrics,
    readonly traces: Traces,
  ) {}
}
