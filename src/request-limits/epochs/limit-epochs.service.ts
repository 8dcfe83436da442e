import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { SystemClock } from '../../common/clock.js';
import { errorCode } from '../../common/errors/error-code.js';
import { Log } from '../../common/log/log.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import { RedisConnection } from '../../platform/redis/redis-connection.js';
import type { MinuteBases } from '../counts/scope-counts.js';
import { EpochOver, type LimitedCall, MAX_WAIT_MS, waitAtMost } from '../request-counting.js';
import { countsUnknown, WINDOW_MS } from '../request-limit.rules.js';
import { CARRIED_MINUTES, carriedMinutes } from './carried-minutes.js';
import { type CountingPlace, CountingPlaces } from './counting-places.service.js';
import { type EpochStep, nextStep, type OwnState } from './epoch.rules.js';
import { EpochAgreement } from './epoch-agreement.service.js';
import { EpochLog } from './epoch-log.js';
import { handedCounts, toldCounts } from './handed-counts.rules.js';
import type { EpochView } from './limit-epochs.repository.js';

/** Counting stops this long before the lease expires. */
const LEASE_MARGIN_MS = 500;
/** Retry delay while an instance has not handed over. */
const MISSING_PAUSE_MS = 50;
/** Retry delay after a database failure. */
const FAILURE_PAUSE_MS = 200;
/** Interval at which a waiting call checks again. */
const LOOK_MS = 250;
/** Maximum consecutive steps; each depends on the state that the previous one left. */
const MAX_STEPS = 12;
/** Maximum wait of the start for a place of counting. */
const START_MS = 3_000;
const START_PAUSE_MS = 10;
const LEAVE_MS = 2_000;
/** Interval at which expired windows are pruned. */
const PRUNE_EVERY_MS = 60_000;

/**
 * Agrees with the other instances on where requests are counted, one epoch after another. All instances count in one
 * place at a time, and no count is lost in the change to another place. While an epoch is not open, or the lease of
 * this instance may have expired, there is no place, and calls wait.
 *
 * Log lines: limits_degraded, limits_restored, limits_recounted, limits_agreement_failed.
 * Source: docs/reference/accounting.md#several-instances.
 */
@Injectable()
export class LimitEpochs {
  /** Called with a call that was counted in Redis and must be counted again elsewhere. */
  onUnsent: (call: LimitedCall) => void = () => undefined;
  /** System time, because leases expire in real time. */
  private readonly realTime = new SystemClock();
  private readonly lines: EpochLog;
  private current: CountingPlace | undefined;
  private recordedMinutes: MinuteBases = () => 0;
  private validUntilMs = Number.NEGATIVE_INFINITY;
  private suspended = true;
  private redisForgot = false;
  private closed = false;
  private stepping: Promise<void> | undefined;
  private stepAgain = false;
  private retry: NodeJS.Timeout | undefined;
  private prunedAtMs: number;
  private looking: { readonly promise: Promise<void>; goOn(): void } | undefined;
  private unsubscribe: () => void = () => undefined;

  constructor(
    private readonly agreement: EpochAgreement,
    private readonly places: CountingPlaces,
    private readonly instances: InstanceRegistry,
    private readonly redis: RedisConnection,
    private readonly clock: SharedClock,
    log: Log,
  ) {
    this.lines = new EpochLog(log, this.realTime);
    this.prunedAtMs = this.realTime.monotonicMs();
    // The host may have been suspended, and the lease may have expired.
    clock.onJump(() => {
      this.validUntilMs = Number.NEGATIVE_INFINITY;
    });
  }

  /** The current place of counting; undefined without an agreed one. */
  get place(): CountingPlace | undefined {
    if (this.suspended || this.realTime.monotonicMs() >= this.validUntilMs) return undefined;
    return this.current;
  }

  /** Requests are counted without Redis although it is configured. */
  get isDegraded(): boolean {
    return this.lines.isDegraded || this.redis.state === 'lost';
  }

  /** A place for an instance without Redis, which counts alone. */
  alone(): CountingPlace {
    return this.places.alone((...minute) => this.recordedMinutes(...minute));
  }

  /** Starts to count alone, from the recorded requests. */
  async startAlone(): Promise<void> {
    await this.agreement.countAlone(async () => {
      this.recordedMinutes = await this.places.recordedMinutes();
    });
  }

  /** Starts to count. Waits up to `START_MS` for a place and continues in the background. */
  async start(): Promise<void> {
    const startedAtMs = this.realTime.monotonicMs();
    const waitsLess = (ms: number) => this.realTime.monotonicMs() - startedAtMs < ms;
    this.unsubscribe = this.agreement.onChange(() => this.step());
    this.step();
    while (this.place === undefined && waitsLess(START_MS)) await sleep(START_PAUSE_MS);
  }

  /** Waits for a place of counting. @throws service_unavailable, in the promise, when there is none for a second. */
  async next(): Promise<CountingPlace> {
    const startedAtMs = this.realTime.monotonicMs();
    for (;;) {
      const { place } = this;
      if (place !== undefined) return place;
      if (this.realTime.monotonicMs() - startedAtMs >= MAX_WAIT_MS) throw countsUnknown();
      await this.lookAgain();
    }
  }

  /** Hands over the counts and stops counting. Never rejects, and takes a bounded time. */
  async leave(): Promise<void> {
    this.closed = true;
    this.suspended = true;
    this.unsubscribe();
    clearTimeout(this.retry);
    await this.stepping;
    await waitAtMost(this.agreement.leave(this.counted()), LEAVE_MS).catch(() => undefined);
  }

  /** Resolves when there is a place, or after `LOOK_MS`; all waiting calls share one timer. */
  private lookAgain(): Promise<void> {
    if (this.looking === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const goOn = () => {
        clearTimeout(timer);
        this.looking = undefined;
        resolve();
      };
      const timer = setTimeout(goOn, LOOK_MS);
      this.looking = { promise, goOn };
    }
    return this.looking.promise;
  }

  /** Runs the next steps in the background, one at a time. */
  private step(): void {
    if (this.closed) return;
    this.stepAgain = true;
    this.stepping ??= this.runSteps()
      .catch((error: unknown) => {
        this.lines.failed(errorCode(error) ?? String(error));
        this.stepLater(FAILURE_PAUSE_MS);
      })
      .finally(() => {
        this.stepping = undefined;
      });
  }

  private stepLater(pauseMs: number): void {
    clearTimeout(this.retry);
    if (!this.closed) this.retry = setTimeout(() => this.step(), pauseMs);
  }

  private async runSteps(): Promise<void> {
    while (this.stepAgain && !this.closed) {
      this.stepAgain = false;
      for (let steps = 0; steps < MAX_STEPS && !this.closed; steps++) {
        const askedAtMs = this.realTime.monotonicMs();
        const view = await this.agreement.view();
        const step = nextStep(view, this.ownState(view));
        if (step.do === 'count') {
          await this.countIn(view, askedAtMs);
          break;
        }
        this.suspended = true;
        if (!(await this.take(step, view))) break;
      }
    }
    this.lines.worked();
    await this.makeRoom();
    await this.pruneSometimes();
  }

  private ownState(view: EpochView): OwnState {
    const redisAnswers = this.instances.sharesRedis;
    return {
      id: this.instances.id,
      lives: view.leaseLeftMs > 0,
      enteredEpoch: view.enteredEpoch,
      hasCounts: view.enteredEpoch !== view.epoch && this.counted().length > 0,
      redisAnswers,
      redisAnswersAll: redisAnswers && this.instances.live.every((one) => one.redisAnswers),
      redisForgot: this.redisForgot && this.current?.epoch === view.epoch,
    };
  }

  /** @returns false when other instances must act first. */
  private async take(step: Exclude<EpochStep, { do: 'count' }>, { epoch }: EpochView): Promise<boolean> {
    if (step.do === 'wait') return false;
    if (step.do === 'begin') {
      await this.agreement.begin(epoch, step.countedIn, step.reason);
    } else if (step.do === 'hand_over') {
      if (await this.agreement.handOver(epoch, this.counted())) this.current = undefined;
    } else if (step.do === 'enter') {
      if (await this.agreement.enter(epoch)) this.current = undefined;
    } else if (!(await this.agreement.open(epoch))) {
      this.stepLater(MISSING_PAUSE_MS);
      return false;
    }
    return true;
  }

  private async countIn(view: EpochView, askedAtMs: number): Promise<void> {
    if (this.current?.epoch !== view.epoch) this.current = await this.placeIn(view);
    this.validUntilMs = askedAtMs + view.leaseLeftMs - LEASE_MARGIN_MS;
    this.suspended = false;
    if (this.place === undefined) return;
    this.lines.countsIn(view);
    this.looking?.goOn();
  }

  private async placeIn(view: EpochView): Promise<CountingPlace> {
    this.redisForgot = false;
    const nowMs = this.clock.nowMs();
    const aroundMs = (CARRIED_MINUTES + 1) * WINDOW_MS.minute;
    const counts = await this.agreement.listMinutes(nowMs - aroundMs, nowMs + aroundMs);
    const minutes = carriedMinutes({ counts, nowMs, unknownForMs: view.minutesUnknownForMs });
    const place: CountingPlace = this.places.inEpoch(view, minutes, {
      requireCurrent: () => {
        if (this.place !== place) throw new EpochOver();
      },
      onUnsent: (call) => this.onUnsent(call),
      onLost: () => this.suspendFrom(place),
      onForgotten: () => {
        if (this.current === place) this.redisForgot = true;
        this.suspendFrom(place);
      },
    });
    return place;
  }

  private suspendFrom(place: CountingPlace): void {
    if (this.current !== place) return;
    this.suspended = true;
    this.step();
  }

  private counted() {
    return handedCounts(this.current?.counters.scopes() ?? [], this.clock.nowMs());
  }

  /** Runs after the steps, so no count is stored here while it is handed over. */
  private async makeRoom(): Promise<void> {
    const { place } = this;
    await place?.room.make((windows) => this.agreement.tell(place.epoch, toldCounts(windows)));
  }

  private async pruneSometimes(): Promise<void> {
    const nowMs = this.realTime.monotonicMs();
    if (nowMs - this.prunedAtMs < PRUNE_EVERY_MS) return;
    this.prunedAtMs = nowMs;
    await this.agreement.prune(this.clock.nowMs());
  }
}
