import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Refusals } from '../../common/errors/error-answers.js';
import { Environment } from '../../platform/config/environment.js';
import { KeptAnswers } from '../streams/kept-answers.service.js';
import { TurnBatch } from '../turn-batch.js';
import { CallTelemetry } from './call-telemetry.js';
import { AbandonedAnswers, OpenAnswers } from './open-answers.js';
import { SendBatch } from './send-batch.js';

/** What all relays share. */
@Injectable()
export class RelayContext {
  /** Maximum time to hold back a stream that a fallback can still replace. */
  readonly fallbackHoldMs: number;
  /** 0: no heartbeats. */
  readonly heartbeatMs: number;

  constructor(
    readonly clock: Clock,
    readonly refusals: Refusals,
    readonly open: OpenAnswers,
    readonly abandoned: AbandonedAnswers,
    readonly turn: TurnBatch,
    readonly sends: SendBatch,
    readonly telemetry: CallTelemetry,
    readonly kept: KeptAnswers,
    environment: Environment,
  ) {
    this.fallbackHoldMs = environment.FALLBACK_HOLD_MS;
    this.heartbeatMs = environment.STREAM_HEARTBEAT_SECONDS * 1000;
  }
}
