import { roomInShare } from '../../../../src/limits/requests/backends/local-counting.js';
import { applyBaseInShare } from '../../../../src/limits/requests/counts/day-bases.js';
import { RequestCounters } from '../../../../src/limits/requests/counts/request-counters.js';
import type { ScopeCounts, WindowCount } from '../../../../src/limits/requests/counts/scope-counts.js';
import { EpochMachine, type EpochState, type EpochStep } from '../../../../src/limits/requests/epochs/epoch-machine.js';
import {
  carriedMinutes,
  handedCounts,
  reportedCounts,
  unreportedWindows,
} from '../../../../src/limits/requests/epochs/handed-counts.rules.js';
import type { HandedCount } from '../../../../src/limits/requests/epochs/limit-epochs.repository.js';
import type { LimitedCall } from '../../../../src/limits/requests/request-counting.js';
import { WINDOW_MS, windowIndex } from '../../../../src/limits/requests/request-limit.rules.js';

import { type Backend, LEASE_MS, StoredLimits } from './limits-store.js';

/** How long before the end of its lease an instance stops by itself. */
const MARGIN_MS = 500;
/** Calls that are not recorded yet. */
const MAX_UNRECORDED = 8;

const CALL: LimitedCall = { organizationId: 'org', appId: 'app', userId: null, user: undefined, app: undefined };

/** One process: its memory, and its pending messages. */
interface Instance {
  readonly id: string;
  readonly machine: EpochMachine<Backend>;
  reaches: boolean;
  pausedUntilMs: number;
  /** What it read and has not acted on; what Redis said and it has not heard. */
  readonly pending: (() => void)[];
}

/** One run: instances that come and go, a Redis that is lost, comes back and forgets, and calls of one application. */
export class LimitsSimulation {
  nowMs = Date.UTC(2030, 0, 15, 12, 0, 30);
  /** Calls that were admitted, by window. */
  readonly admitted = new Map<string, number>();
  /** Those after Redis had forgotten, and before anybody noticed. */
  excused = 0;
  /** Calls of instances that died or were taken for dead, of which others know once they are recorded. */
  lost = 0;
  /** Calls that nobody could decide. */
  undecided = 0;
  private readonly stored = new StoredLimits();
  private readonly instances: Instance[] = [];
  private readonly redis = new Map<string, number>();
  private readonly recorded = new Map<number, number>();
  private flushedEpoch = 0;
  private ids = 0;
  private marks = 0;

  constructor(
    private readonly random: () => number,
    readonly limits: { readonly perMinute: number; readonly perDay: number },
  ) {}

  /** How many instances there are. */
  get alive(): number {
    return this.instances.length;
  }

  join(): void {
    const id = `instance-${++this.ids}`;
    this.stored.instances.set(id, { enteredEpoch: 0, seenAtMs: this.nowMs, redisAnswers: true });
    this.instances.push({ id, machine: new EpochMachine(), reaches: true, pausedUntilMs: 0, pending: [] });
  }

  /** Kills one; its journal is stored by the next process. */
  kill(): void {
    const [gone] = this.instances.splice(this.anyIndex(), 1);
    if (gone !== undefined) this.loses(gone);
  }

  /** Stops one cleanly: it hands over and leaves. */
  stop(): void {
    const [gone] = this.instances.splice(this.anyIndex(), 1);
    if (gone === undefined) return;
    const entry = this.stored.instances.get(gone.id);
    if (entry !== undefined && entry.enteredEpoch !== 0) this.stored.add(this.countsOf(gone));
    this.stored.instances.delete(gone.id);
  }

  pause(ms: number): void {
    const one = this.any();
    if (one === undefined) return;
    one.pausedUntilMs = this.nowMs + ms;
    this.loses(one);
  }

  loseRedis(): void {
    const one = this.any();
    if (one !== undefined) one.reaches = false;
  }

  findRedis(): void {
    for (const one of this.instances) one.reaches = true;
  }

  flushRedis(): void {
    this.redis.clear();
    this.flushedEpoch = this.stored.state.epoch;
  }

  advance(ms: number): void {
    this.nowMs += ms;
  }

  /** A heartbeat of one instance, and the step that follows. */
  heartbeat(): void {
    const one = this.anyAwake();
    if (one === undefined) return;
    const entry = this.stored.instances.get(one.id);
    if (entry === undefined) return;
    entry.seenAtMs = this.nowMs;
    entry.redisAnswers = one.reaches;
    this.step(one);
  }

  /** Something an instance has on its way arrives. */
  deliver(): void {
    this.anyAwake()?.pending.shift()?.();
  }

  call(): void {
    const one = this.anyAwake();
    if (one === undefined) return;
    const backend = one.machine.usableAt(this.nowMs);
    if (backend === undefined) {
      this.undecided++;
      return;
    }
    const now = windowIndex('minute', this.nowMs);
    const scope = backend.counters.ofApp(CALL, now);
    const minute = scope.inMinute(now, backend.minuteBases);
    const day = scope.onDay(windowIndex('day', this.nowMs));
    if (backend.countedIn === 'redis') this.callInRedis(one, backend, scope, minute, day);
    else this.callHere(one, backend, minute, day);
  }

  /** An instance has no room for what it counts: it reports what that was of the day, and forgets it. */
  leaveMemory(): void {
    const one = this.anyAwake();
    const backend = one?.machine.usableAt(this.nowMs);
    const { state } = this.stored;
    if (one === undefined || backend === undefined) return;
    if (!state.isOpen || state.epoch !== backend.epoch || one.pending.length > 0) return;
    const windows = unreportedWindows(backend.counters.scopes(), this.nowMs).filter(({ kind }) => kind === 'day');
    this.stored.add(reportedCounts(windows));
    for (const { window, own } of windows) window.reported = own;
    const later = windowIndex('minute', this.nowMs) + 2;
    backend.counters.evict(backend.counters.idle(later), later);
  }

  /** Records what was admitted, all but the newest calls. */
  record(): void {
    const day = windowIndex('day', this.nowMs);
    const all = this.admitted.get(`day ${day}`) ?? 0;
    this.recorded.set(day, Math.max(this.recorded.get(day) ?? 0, all - Math.floor(this.random() * MAX_UNRECORDED)));
  }

  private callHere(one: Instance, backend: Backend, minute: WindowCount, day: WindowCount): void {
    if (day.base < 0) {
      const agreed = this.agreedOn(backend, day.index);
      applyBaseInShare(() => backend.counters.hasEvicted)(day, agreed, agreed);
    }
    const hasRoom = roomInShare(backend.members.length, backend.members.indexOf(one.id));
    if (hasRoom(minute, this.limits.perMinute) && hasRoom(day, this.limits.perDay)) this.admit(backend, minute, day);
  }

  private callInRedis(
    one: Instance,
    backend: Backend,
    scope: ScopeCounts,
    minute: WindowCount,
    day: WindowCount,
  ): void {
    if (minute.count >= this.limits.perMinute || day.count >= this.limits.perDay) return;
    const answer = one.reaches ? this.script(backend, scope, minute, day) : 'lost';
    const { index } = minute;
    one.pending.push(() => {
      if (answer === 'forgotten' || answer === 'lost' || this.random() < 0.05) {
        if (answer === 'forgotten') one.machine.forget(backend);
        else one.machine.suspend(backend);
        this.step(one);
      } else if (one.machine.usableAt(this.nowMs) === backend && answer !== 'full' && minute.index === index) {
        scope.app.mark = answer.mark;
        [minute.seen, day.seen] = [Math.max(minute.seen, answer.minute), Math.max(day.seen, answer.day)];
        [minute.count, day.count] = [minute.seen - 1, day.seen - 1];
        this.admit(backend, minute, day);
      }
    });
  }

  /** What the script does. */
  private script(backend: Backend, scope: ScopeCounts, minute: WindowCount, day: WindowCount) {
    const key = (name: string) => `${backend.epoch}:${name}`;
    const mark = this.redis.get(key('mark')) ?? 0;
    const [minuteKey, dayKey] = [key(`minute:${minute.index}`), key(`day:${day.index}`)];
    const [minuteCount, dayCount] = [this.redis.get(minuteKey), this.redis.get(dayKey)];
    const isForgotten =
      (scope.app.mark !== 0 && scope.app.mark !== mark) ||
      (minuteCount ?? 0) < minute.seen ||
      (dayCount ?? 0) < day.seen;
    if (isForgotten) return 'forgotten';
    if (dayCount === undefined && day.base < 0) {
      day.base = this.agreedOn(backend, day.index);
    }
    const before = { minute: Math.max(minuteCount ?? 0, minute.base), day: Math.max(dayCount ?? 0, day.base) };
    if (before.minute >= this.limits.perMinute || before.day >= this.limits.perDay) return 'full';
    this.redis.set(key('mark'), mark || ++this.marks);
    this.redis.set(minuteKey, before.minute + 1).set(dayKey, before.day + 1);
    return { mark: mark || this.marks, minute: before.minute + 1, day: before.day + 1 };
  }

  private admit(backend: Backend, minute: WindowCount, day: WindowCount): void {
    minute.countOwn();
    day.countOwn();
    for (const window of [`minute ${minute.index}`, `day ${day.index}`]) {
      this.admitted.set(window, (this.admitted.get(window) ?? 0) + 1);
    }
    if (backend.countedIn === 'redis' && backend.epoch <= this.flushedEpoch) this.excused++;
  }

  /** Reads now, acts later: others may have acted in between. */
  private step(one: Instance): void {
    const { stored } = this;
    const entry = stored.instances.get(one.id);
    if (entry === undefined) return;
    const openForMs = stored.state.isOpen ? this.nowMs - stored.state.openedAtMs : 0;
    const state = { ...stored.state, openForMs };
    const [leaseEndsMs, unknownAtMs] = [entry.seenAtMs + LEASE_MS, stored.unknownAtMs];
    const own = this.ownState(one, state, entry.enteredEpoch, leaseEndsMs);
    one.pending.push(() => {
      const step = one.machine.next(state, own);
      if (step.do === 'count') {
        const { held } = one.machine;
        const backend = held?.epoch === state.epoch ? held : this.loaded(state, unknownAtMs);
        one.machine.count(backend, leaseEndsMs - MARGIN_MS);
        return;
      }
      this.take(one, step, state.epoch);
      this.step(one);
    });
  }

  private ownState(one: Instance, state: EpochState, enteredEpoch: number, leaseEndsMs: number) {
    const living = [...this.stored.instances.values()].filter(({ seenAtMs }) => seenAtMs > this.nowMs - LEASE_MS);
    return {
      id: one.id,
      lives: leaseEndsMs > this.nowMs,
      enteredEpoch,
      hasCounts: enteredEpoch !== state.epoch && this.countsOf(one).length > 0,
      redisAnswers: one.reaches,
      redisAnswersAll: one.reaches && living.every(({ redisAnswers }) => redisAnswers),
    };
  }

  private take(one: Instance, step: Exclude<EpochStep, { do: 'count' }>, epoch: number): void {
    const { stored } = this;
    const entry = stored.instances.get(one.id);
    if (step.do === 'begin') stored.begin(epoch, step);
    if (step.do === 'open') stored.open(epoch, this.nowMs);
    const isThere = stored.state.epoch === epoch && stored.state.isOpen === (step.do === 'enter');
    if (entry === undefined || !isThere || (step.do !== 'enter' && step.do !== 'hand_over')) return;
    if (step.do === 'hand_over' && entry.enteredEpoch !== epoch) stored.add(this.countsOf(one));
    entry.enteredEpoch = epoch;
    one.machine.enter();
  }

  private loaded(state: EpochState, unknownAtMs: number | undefined): Backend {
    const { nowMs, stored } = this;
    const counts = [...stored.counts.values()].filter(({ windowMs }) => windowMs === WINDOW_MS.minute);
    const unknownForMs = unknownAtMs === undefined ? undefined : nowMs - unknownAtMs;
    const minuteBases = carriedMinutes({ counts, nowMs, unknownForMs });
    const { epoch, countedIn, members } = state;
    return { epoch, countedIn, members, minuteBases, counters: new RequestCounters() };
  }

  private countsOf({ machine }: Instance): HandedCount[] {
    return handedCounts(machine.held?.counters.scopes() ?? [], this.nowMs);
  }

  /** What it counted today becomes known to the others only as far as it is recorded. */
  private loses(one: Instance): void {
    for (const { windowMs, requests } of this.countsOf(one)) if (windowMs === WINDOW_MS.day) this.lost += requests;
  }

  private agreedOn({ epoch }: Backend, day: number): number {
    return this.stored.agree(epoch, day, this.recorded.get(day) ?? 0);
  }

  private anyIndex(): number {
    return Math.floor(this.random() * this.instances.length);
  }

  private any(): Instance | undefined {
    return this.instances[this.anyIndex()];
  }

  private anyAwake(): Instance | undefined {
    const one = this.any();
    return one !== undefined && one.pausedUntilMs <= this.nowMs ? one : undefined;
  }
}
