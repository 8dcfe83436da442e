import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { SystemClock } from '../../../common/clock.js';
import { systemErrorCode } from '../../../common/errors/system-error-code.js';
import { Log } from '../../../common/log/log.js';
import type { MaybePromise } from '../../../common/maybe-promise.js';
import { SharedClock } from '../../../platform/clock/shared-clock.js';
import { InstanceRegistry } from '../../../platform/instances/instance-registry.js';
import { type CounterBackend, CounterBackends } from '../backends/counter-backends.service.js';
import type { MinuteBases } from '../counts/scope-counts.js';
import { EpochOver, type LimitedCall, MAX_WAIT_MS, type RequestCounting, waitAtMost } from '../request-counting.js';
import { countsUnknown, WINDOW_MS } from '../request-limit.rules.js';
import { EpochAgreement, EpochLog } from './epoch-agreement.service.js';
import { EpochMachine, type EpochStep, type OwnState } from './epoch-machine.js';
import { CARRIED_MINUTES, carriedMinutes, handedCounts, reportedCounts } from './handed-counts.rules.js';
import { type EpochView, LimitEpochsRepository } from './limit-epochs.repository.js';

/** Counting stops this long before the lease expires. */
const LEASE_MARGIN_MS = 500;
/** Retry delay while an instance has not handed over. */
const MISSING_PAUSE_MS = 50;
/** Retry delay after a database failure. */
const FAILURE_PAUSE_MS = 200;
/** Interval at which a waiting call checks again. */
const CHECK_MS = 250;
/** Maximum consecutive steps; each depends on the state that the previous one left. */
const MAX_STEPS = 12;
/** Maximum wait of the start for a backend. */
const START_MS = 3_000;
const START_PAUSE_MS = 10;
const LEAVE_MS = 2_000;
/** Interval at which expired windows are pruned. */
const PRUNE_EVERY_MS = 60_000;

/**
 * Agrees with the other instances on the counter backend, one epoch after another. All instances count in one backend
 * at a time, and no count is lost in the change to another. {@link EpochMachine} decides whether this instance may
 * count; while it may not, calls wait.
 *
 * Log lines: limits_degraded, limits_restored, limits_recounted, limits_agreement_failed.
 * Source: docs/reference/accounting.md#several-instances.
 */
@Injectable()
export class LimitEpochs implements RequestCounting {
  /** Called with a call that was counted in Redis and must be counted again elsewhere. */
  onUnsent: (call: LimitedCall) => void = () => undefined;
  /** System time, because leases expire in real time. */
  private readonly realTime = new SystemClock();
  private readonly machine = new EpochMachine<CounterBackend>();
  private readonly lines: EpochLog;
  private recordedMinutes: MinuteBases = () => 0;
  private stepping: Promise<void> | undefined;
  private stepAgain = false;
  private retry: NodeJS.Timeout | undefined;
  private prunedAtMs: number;
  private waiting: { readonly promise: Promise<void>; end(): void } | undefined;
  private unsubscribe: () => void = () => undefined;

  constructor(
    private readonly agreement: EpochAgreement,
    private readonly epochs: LimitEpochsRepository,
    private readonly backends: CounterBackends,
    private readonly instances: InstanceRegistry,
    private readonly clock: SharedClock,
    log: Log,
  ) {
    this.lines = new EpochLog(log, this.realTime);
    this.prunedAtMs = this.realTime.monotonicMs();
    // The host may have been suspended, and the lease may have expired.
    clock.onJump(() => void this.machine.suspend());
  }

  /** The current backend; undefined without an agreed one. */
  get backend(): CounterBackend | undefined {
    return this.machine.usableAt(this.realTime.monotonicMs());
  }

  /** The last agreed epoch is counted without Redis. */
  get isDegraded(): boolean {
    return this.lines.isDegraded;
  }

  /** The backend of an instance without Redis, which counts alone. */
  alone(): CounterBackend {
    return this.backends.alone((...minute) => this.recordedMinutes(...minute));
  }

  /** Starts to count alone, from the recorded requests. */
  async startAlone(): Promise<void> {
    await this.agreement.countAlone(async () => {
      this.recordedMinutes = await this.backends.recordedMinutes();
    });
  }

  /** Starts to count. Waits up to `START_MS` for a backend and continues in the background. */
  async start(): Promise<void> {
    const startedAtMs = this.realTime.monotonicMs();
    const waitsLess = (ms: number) => this.realTime.monotonicMs() - startedAtMs < ms;
    this.unsubscribe = this.agreement.onChange(() => this.step());
    this.step();
    while (this.backend === undefined && waitsLess(START_MS)) await sleep(START_PAUSE_MS);
  }

  admit(call: LimitedCall): Promise<void> {
    return this.decide((counting) => counting.admit(call));
  }

  require(call: LimitedCall): Promise<void> {
    return this.decide((counting) => counting.require(call));
  }

  countToday(call: LimitedCall): Promise<number> {
    return this.decide((counting) => counting.countToday(call));
  }

  /** Hands over the counts and stops counting. Never rejects, and takes a bounded time. */
  async leave(): Promise<void> {
    this.machine.leave();
    this.unsubscribe();
    clearTimeout(this.retry);
    await this.stepping;
    const counts = this.counted();
    const leaving = this.agreement.change((tx) => this.epochs.leave(tx, this.instances.id, counts));
    await waitAtMost(leaving, LEAVE_MS).catch(() => undefined);
  }

  private get hasLeft(): boolean {
    return this.machine.current.name === 'left';
  }

  /** Counts in the current backend; when it changes meanwhile, in the next one. */
  private async decide<T>(ask: (counting: RequestCounting) => MaybePromise<T>): Promise<T> {
    const startedAtMs = this.realTime.monotonicMs();
    for (;;) {
      const { counting } = this.backend ?? (await this.nextBackend());
      try {
        return await ask(counting);
      } catch (error) {
        if (!(error instanceof EpochOver)) throw error;
      }
      if (this.realTime.monotonicMs() - startedAtMs > MAX_WAIT_MS) throw countsUnknown();
    }
  }

  /** Waits for a backend. @throws service_unavailable, in the promise, when there is none for a second. */
  private async nextBackend(): Promise<CounterBackend> {
    const startedAtMs = this.realTime.monotonicMs();
    for (;;) {
      const { backend } = this;
      if (backend !== undefined) return backend;
      if (this.realTime.monotonicMs() - startedAtMs >= MAX_WAIT_MS) throw countsUnknown();
      await this.wait();
    }
  }

  /** Resolves when there is a backend, or after `CHECK_MS`; all waiting calls share one timer. */
  private wait(): Promise<void> {
    if (this.waiting === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = () => {
        clearTimeout(timer);
        this.waiting = undefined;
        resolve();
      };
      const timer = setTimeout(end, CHECK_MS);
      this.waiting = { promise, end };
    }
    return this.waiting.promise;
  }

  /** Runs the next steps in the background, one at a time. */
  private step(): void {
    if (this.hasLeft) return;
    this.stepAgain = true;
    this.stepping ??= this.runSteps()
      .catch((error: unknown) => {
        this.lines.failed(systemErrorCode(error) ?? String(error));
        this.stepLater(FAILURE_PAUSE_MS);
      })
      .finally(() => {
        this.stepping = undefined;
      });
  }

  private stepLater(pauseMs: number): void {
    clearTimeout(this.retry);
    if (!this.hasLeft) this.retry = setTimeout(() => this.step(), pauseMs);
  }

  private async runSteps(): Promise<void> {
    while (this.stepAgain && !this.hasLeft) {
      this.stepAgain = false;
      await this.followEpoch();
      this.lines.worked();
      await this.evict();
      await this.pruneSometimes();
    }
  }

  /** Takes steps until this instance counts, or other instances must act first. */
  private async followEpoch(): Promise<void> {
    for (let steps = 0; steps < MAX_STEPS && !this.hasLeft; steps++) {
      const askedAtMs = this.realTime.monotonicMs();
      const view = await this.epochs.read(this.instances.id);
      const step = this.machine.next(view, this.ownState(view));
      if (step.do === 'count') return this.countIn(view, askedAtMs);
      if (!(await this.take(step, view))) return;
    }
  }

  private ownState(view: EpochView): Omit<OwnState, 'redisForgot'> {
    const redisAnswers = this.instances.sharesRedis;
    return {
      id: this.instances.id,
      lives: view.leaseLeftMs > 0,
      enteredEpoch: view.enteredEpoch,
      hasCounts: view.enteredEpoch !== view.epoch && this.counted().length > 0,
      redisAnswers,
      redisAnswersAll: redisAnswers && this.instances.live.every((one) => one.redisAnswers),
    };
  }

  /** @returns false when other instances must act first. */
  private async take(step: Exclude<EpochStep, { do: 'count' }>, { epoch }: EpochView): Promise<boolean> {
    const { agreement, epochs, machine } = this;
    const { id } = this.instances;
    if (step.do === 'wait') return false;
    if (step.do === 'begin') {
      await agreement.change((tx) => epochs.begin(tx, epoch, step.countedIn, step.reason));
    } else if (step.do === 'hand_over') {
      const counts = this.counted();
      if (await agreement.change((tx) => epochs.handOver(tx, id, epoch, counts))) machine.enter();
    } else if (step.do === 'enter') {
      if (await agreement.change((tx) => epochs.enter(tx, id, epoch))) machine.enter();
    } else if (!(await agreement.change((tx) => epochs.open(tx, epoch)))) {
      this.stepLater(MISSING_PAUSE_MS);
      return false;
    }
    return true;
  }

  private async countIn(view: EpochView, askedAtMs: number): Promise<void> {
    const { held } = this.machine;
    const backend = held?.epoch === view.epoch ? held : await this.backendIn(view);
    this.machine.count(backend, askedAtMs + view.leaseLeftMs - LEASE_MARGIN_MS);
    if (this.backend === undefined) return;
    this.lines.countsIn(view);
    this.waiting?.end();
  }

  private async backendIn(view: EpochView): Promise<CounterBackend> {
    const nowMs = this.clock.nowMs();
    const aroundMs = (CARRIED_MINUTES + 1) * WINDOW_MS.minute;
    const counts = await this.epochs.listMinutes(nowMs - aroundMs, nowMs + aroundMs);
    const minutes = carriedMinutes({ counts, nowMs, unknownForMs: view.minutesUnknownForMs });
    const backend: CounterBackend = this.backends.inEpoch(view, minutes, {
      requireCurrent: () => {
        if (this.backend !== backend) throw new EpochOver();
      },
      onUnsent: (call) => this.onUnsent(call),
      onLost: () => {
        if (this.machine.suspend(backend)) this.step();
      },
      onForgotten: () => {
        if (this.machine.forget(backend)) this.step();
      },
    });
    return backend;
  }

  private counted() {
    return handedCounts(this.machine.held?.counters.scopes() ?? [], this.clock.nowMs());
  }

  /** Runs after the steps, so no count is stored here while it is handed over. */
  private async evict(): Promise<void> {
    const { backend } = this;
    await backend?.eviction.run((windows) => this.epochs.report(backend.epoch, reportedCounts(windows)));
  }

  private async pruneSometimes(): Promise<void> {
    const nowMs = this.realTime.monotonicMs();
    if (nowMs - this.prunedAtMs < PRUNE_EVERY_MS) return;
    this.prunedAtMs = nowMs;
    await this.epochs.prune(this.clock.nowMs());
  }
}
