import type { RequestCounters } from '../../../../src/limits/requests/counts/request-counters.js';
import type { MinuteBases } from '../../../../src/limits/requests/counts/scope-counts.js';
import { type EpochState, type EpochStep } from '../../../../src/limits/requests/epochs/epoch-machine.js';
import type { HandedCount } from '../../../../src/limits/requests/epochs/limit-epochs.repository.js';
import { WINDOW_MS } from '../../../../src/limits/requests/request-limit.rules.js';

/** As the lease of real instances. */
export const LEASE_MS = 3_000;
const LATELY_MS = WINDOW_MS.minute + LEASE_MS + 2_000;

/** Where an instance of a simulation counts in one epoch. */
export interface Backend {
  readonly epoch: number;
  readonly countedIn: 'redis' | 'instances';
  readonly counters: RequestCounters;
  readonly minuteBases: MinuteBases;
  readonly members: readonly string[];
}

/** What the statements of the repository do to what is stored, for the one application of a simulation. */
export class StoredLimits {
  state: EpochState & { openedAtMs: number } = {
    epoch: 1,
    countedIn: 'redis',
    isOpen: true,
    members: [],
    openForMs: 0,
    openedAtMs: 0,
  };
  unknownAtMs: number | undefined;
  readonly counts = new Map<string, HandedCount & { agreedEpoch: number }>();
  readonly instances = new Map<string, { enteredEpoch: number; seenAtMs: number; redisAnswers: boolean }>();

  /** Hands over. */
  add(handed: readonly HandedCount[]): void {
    for (const one of handed) {
      const key = `${one.windowMs}:${one.windowStartMs}`;
      const { requests = 0, agreedEpoch = 0 } = this.counts.get(key) ?? {};
      this.counts.set(key, { ...one, requests: requests + one.requests, agreedEpoch });
    }
  }

  /** What a day begins with in an epoch. */
  agree(epoch: number, day: number, recorded: number): number {
    const key = `${WINDOW_MS.day}:${day * WINDOW_MS.day}`;
    const known = this.counts.get(key);
    const requests =
      known !== undefined && known.agreedEpoch >= epoch ? known.requests : Math.max(known?.requests ?? 0, recorded);
    const agreedEpoch = Math.max(known?.agreedEpoch ?? 0, epoch);
    const window = { appId: 'app', userId: '', windowMs: WINDOW_MS.day, windowStartMs: day * WINDOW_MS.day };
    this.counts.set(key, { ...window, requests, agreedEpoch });
    return requests;
  }

  /** Begins another epoch, unless somebody else has. */
  begin(epoch: number, step: Extract<EpochStep, { do: 'begin' }>): void {
    if (this.state.epoch !== epoch || !this.state.isOpen) return;
    const next = { epoch: epoch + 1, countedIn: step.countedIn, isOpen: false, members: [] };
    this.state = { ...next, openForMs: 0, openedAtMs: 0 };
  }

  /** Opens an epoch, unless somebody is missing. */
  open(epoch: number, nowMs: number): void {
    if (this.state.epoch !== epoch || this.state.isOpen) return;
    const all = [...this.instances].filter(([, { enteredEpoch }]) => enteredEpoch > 0);
    const lives = (seenAtMs: number) => seenAtMs > nowMs - LEASE_MS;
    if (all.some(([, one]) => lives(one.seenAtMs) && one.enteredEpoch < epoch)) return;
    for (const [, one] of all) {
      if (lives(one.seenAtMs) || one.enteredEpoch >= epoch) continue;
      if (one.seenAtMs > nowMs - LATELY_MS) this.unknownAtMs = nowMs;
      one.enteredEpoch = 0;
    }
    const members = all.filter(([, one]) => lives(one.seenAtMs)).map(([id]) => id);
    this.state = { ...this.state, isOpen: true, members: members.sort(), openedAtMs: nowMs };
  }
}
