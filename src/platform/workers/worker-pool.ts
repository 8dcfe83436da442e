import type { Clock } from '../../common/clock.js';
import type { Log } from '../../common/log/log.js';
import { type BackoffBounds, backoffMs } from '../database/backoff.rules.js';
import { parseWorkerMessage, type WorkerMessage } from './worker-messages.rules.js';

/** Pauses before a worker that died is started again: at once the first time, then longer and longer. */
const RESTART_BACKOFF: BackoffBounds = { minMs: 100, maxMs: 30_000 };
/** One that has served for so long before it died did not die of its start. */
const SETTLED_MS = 60_000;

/** A child process, as far as the pool needs it. */
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
  /** How many serve. */
  readonly workers: number;
  /** Starts one more process. */
  readonly fork: () => WorkerProcess;
  readonly clock: Clock;
  readonly log: Log;
}

/** One of the places in the pool; a process that dies is replaced by another in the same place. */
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
   * Starts one worker, and the others as soon as it serves: what is wrong for all of them is told once.
   *
   * @returns the banner of the first.
   * @throws Error when the first one ends instead; it has said why.
   */
  async start(): Promise<string> {
    const [first, ...others] = this.places;
    if (first === undefined) throw new Error('a pool has at least one worker');
    const banner = await this.launch(first);
    for (const place of others) this.launch(place).catch(() => undefined);
    return banner;
  }

  /** Has every worker finish what it does. @returns whether all ended as they should. */
  async stop(signal: string): Promise<boolean> {
    this.stopping ??= { signal, failed: false };
    const ends = this.places.map(async ({ timer, process }) => {
      clearTimeout(timer);
      if (process === undefined || hasEnded(process)) return;
      const ended = new Promise((resolve) => process.once('exit', resolve));
      tell(process, { kind: 'stop', signal });
      await ended;
    });
    await Promise.all(ends);
    return !this.stopping.failed;
  }

  /** @returns its banner when it serves; rejects when it ends before. */
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
        reject(new Error(`a worker ended with ${signal ?? `exit code ${code}`} before it served`));
        if (this.stopping !== undefined) this.stopping.failed ||= code !== 0;
        else if (isReady || this.hasServed(place)) this.replace(place, process, startedMs);
      });
      if (this.stopping !== undefined) tell(process, { kind: 'stop', signal: this.stopping.signal });
    });
  }

  /** Not so for the first process of the first place: without it nothing was ever served, so there is nothing to keep. */
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
