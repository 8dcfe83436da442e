import type { Clock } from '../../common/clock.js';
import type { Log } from '../../common/log/log.js';
import { type BackoffBounds, backoffMs } from '../database/retry-unreachable.js';
import { parseWorkerMessage, type WorkerMessage } from './worker-messages.rules.js';

/** Restart delays of a dead worker. */
const RESTART_BACKOFF: BackoffBounds = { minMs: 100, maxMs: 30_000 };
/** A worker that served for this long did not die of its start. */
const SETTLED_MS = 60_000;

/** The part of a child process that the pool uses. */
export interface WorkerProcess {
  readonly pid?: number;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  readonly connected: boolean;
  on(event: 'message' | 'error', listener: (told: unknown) => void): unknown;
  once(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown;
  send(message: WorkerMessage, sent: () => void): boolean;
}

export interface WorkerPoolOptions {
  /** Number of workers. */
  readonly workers: number;
  readonly fork: () => WorkerProcess;
  readonly clock: Clock;
  readonly log: Log;
}

/** The first worker ended before it served. It has reported the reason. */
export class WorkerStartError extends Error {}

/** A slot of the pool; a worker that dies is replaced in the same slot. */
interface Place {
  failures: number;
  process: WorkerProcess | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Keeps a number of worker processes running.
 *
 * Log lines: worker_exited. Source: docs/configuration.md.
 */
export class WorkerPool {
  private readonly places: readonly Place[];
  private stopping: { readonly signal: string; failed: boolean } | undefined;

  constructor(private readonly options: WorkerPoolOptions) {
    this.places = Array.from({ length: options.workers }, () => ({
      failures: 0,
      process: undefined,
      timer: undefined,
    }));
  }

  /**
   * Starts one worker, and the others once it serves, so that a common problem is reported once.
   *
   * @returns the banner of the first worker.
   * @throws WorkerStartError when the first worker ends instead.
   */
  async start(): Promise<string> {
    const [first, ...others] = this.places;
    if (first === undefined) throw new Error('a pool has at least one worker');
    const banner = await this.launch(first);
    for (const place of others) this.launch(place).catch(() => undefined);
    return banner;
  }

  /** Tells every worker that a stop follows; from now on none is replaced. */
  announceStop(signal: string): void {
    this.stopping ??= { signal, failed: false };
    for (const { process } of this.places) if (process) tell(process, { kind: 'stop_announced', signal });
  }

  /** Drains and stops every worker. @returns whether all exited with code 0. */
  async stop(signal: string): Promise<boolean> {
    const stopping = this.stopping ?? { signal, failed: false };
    this.stopping = stopping;
    const ends = this.places.map(async ({ timer, process }) => {
      clearTimeout(timer);
      if (process === undefined || hasEnded(process)) return;
      const ended = new Promise((resolve) => process.once('exit', resolve));
      tell(process, { kind: 'stop', signal });
      await ended;
    });
    await Promise.all(ends);
    return !stopping.failed;
  }

  /** @returns the worker's banner once it serves; rejects when it ends before. */
  private launch(place: Place): Promise<string> {
    const process = this.options.fork();
    const startedMs = this.options.clock.monotonicMs();
    place.process = process;
    return new Promise((resolve, reject) => {
      let isReady = false;
      process.on('message', (message) => {
        const told = parseWorkerMessage(message);
        if (told?.kind !== 'ready') return;
        isReady = true;
        resolve(told.banner);
      });
      // A message to a process that has just died.
      process.on('error', () => undefined);
      process.once('exit', (code, signal) => {
        reject(new WorkerStartError(`a worker ended with ${signal ?? `exit code ${code}`} before it served`));
        if (this.stopping !== undefined) this.stopping.failed ||= code !== 0;
        else if (isReady || this.hasServed(place)) this.replace(place, process, startedMs);
      });
      if (this.stopping !== undefined) tell(process, { kind: 'stop', signal: this.stopping.signal });
    });
  }

  /**
   * False for the first process of the first slot: if it fails before serving, the start fails instead of a restart.
   */
  private hasServed(place: Place): boolean {
    return place !== this.places[0] || place.failures > 0;
  }

  private replace(place: Place, { pid, exitCode, signalCode }: WorkerProcess, startedMs: number): void {
    const { clock, log } = this.options;
    place.failures = clock.monotonicMs() - startedMs < SETTLED_MS ? place.failures + 1 : 1;
    const restartInMs = backoffMs(place.failures, RESTART_BACKOFF);
    log.event('worker_exited', { pid: pid ?? 0, exitCode, signal: signalCode, restartInMs });
    place.timer = setTimeout(() => void this.launch(place).catch(() => undefined), restartInMs);
  }
}

function hasEnded({ exitCode, signalCode }: WorkerProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function tell(process: WorkerProcess, message: WorkerMessage): void {
  if (process.connected) process.send(message, () => undefined);
}
