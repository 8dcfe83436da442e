import { lasting, type MetricsReport, together } from '../metrics/metrics-report.rules.js';
import { parseWorkerMessage, type WorkerMessage } from './worker-messages.rules.js';
import type { WorkerProcess } from './worker-pool.js';

/** Response timeout of the workers; the last report of a silent worker counts instead. */
const ANSWER_MS = 500;

/** A running collection from all workers. */
interface Round {
  readonly askers: Set<WorkerProcess>;
  readonly awaited: Set<WorkerProcess>;
  readonly timer: NodeJS.Timeout;
}

/**
 * Collects the metrics of all workers in the primary process, for any worker that requests them. The last counters of a
 * dead worker stay included, so that no counter decreases.
 */
export class GroupReport {
  /** The last report of each worker. */
  private readonly said = new Map<WorkerProcess, MetricsReport>();
  private readonly workers = new Set<WorkerProcess>();
  private ofEnded: MetricsReport = [];
  private round: Round | undefined;

  /** Includes a new worker. */
  watch(worker: WorkerProcess): void {
    this.workers.add(worker);
    worker.on('message', (message) => this.hear(worker, parseWorkerMessage(message)));
    worker.once('exit', () => this.forget(worker));
  }

  private hear(worker: WorkerProcess, message: WorkerMessage | undefined): void {
    if (message?.kind === 'group_report_wanted') this.ask(worker);
    if (message?.kind !== 'report') return;
    this.said.set(worker, message.report);
    this.awaitNoLonger(worker);
  }

  private ask(asker: WorkerProcess): void {
    if (this.round !== undefined) {
      this.round.askers.add(asker);
      return;
    }
    const timer = setTimeout(() => this.answer(), ANSWER_MS);
    this.round = { askers: new Set([asker]), awaited: new Set(this.workers), timer };
    for (const worker of this.workers) tell(worker, { kind: 'report_wanted' });
  }

  private forget(worker: WorkerProcess): void {
    this.ofEnded = together([this.ofEnded, lasting(this.said.get(worker) ?? [])]);
    this.said.delete(worker);
    this.workers.delete(worker);
    this.awaitNoLonger(worker);
  }

  private awaitNoLonger(worker: WorkerProcess): void {
    this.round?.awaited.delete(worker);
    if (this.round?.awaited.size === 0) this.answer();
  }

  private answer(): void {
    if (this.round === undefined) return;
    const { askers, timer } = this.round;
    this.round = undefined;
    clearTimeout(timer);
    const report = together([...this.said.values(), this.ofEnded]);
    for (const asker of askers) tell(asker, { kind: 'group_report', report });
  }
}

/** Skips a worker that has just died. */
function tell(worker: WorkerProcess, message: WorkerMessage): void {
  if (worker.connected) worker.send(message, () => undefined);
}
