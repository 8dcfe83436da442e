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
export class WorkersMetrics {
  /** The last report of each worker. */
  private readonly lastReports = new Map<WorkerProcess, MetricsReport>();
  private readonly workers = new Set<WorkerProcess>();
  private ofEnded: MetricsReport = [];
  private round: Round | undefined;

  /** Includes a new worker. */
  watch(worker: WorkerProcess): void {
    this.workers.add(worker);
    worker.on('message', (message) => this.receive(worker, parseWorkerMessage(message)));
    worker.once('exit', () => this.removeWorker(worker));
  }

  private receive(worker: WorkerProcess, message: WorkerMessage | undefined): void {
    if (message?.kind === 'group_report_wanted') this.ask(worker);
    if (message?.kind !== 'report') return;
    this.lastReports.set(worker, message.report);
    this.stopAwaiting(worker);
  }

  private ask(asker: WorkerProcess): void {
    if (this.round !== undefined) {
      this.round.askers.add(asker);
      return;
    }
    const timer = setTimeout(() => this.answer(), ANSWER_MS);
    this.round = { askers: new Set([asker]), awaited: new Set(this.workers), timer };
    for (const worker of this.workers) send(worker, { kind: 'report_wanted' });
  }

  private removeWorker(worker: WorkerProcess): void {
    this.ofEnded = together([this.ofEnded, lasting(this.lastReports.get(worker) ?? [])]);
    this.lastReports.delete(worker);
    this.workers.delete(worker);
    this.stopAwaiting(worker);
  }

  private stopAwaiting(worker: WorkerProcess): void {
    this.round?.awaited.delete(worker);
    if (this.round?.awaited.size === 0) this.answer();
  }

  private answer(): void {
    if (this.round === undefined) return;
    const { askers, timer } = this.round;
    this.round = undefined;
    clearTimeout(timer);
    const report = together([...this.lastReports.values(), this.ofEnded]);
    for (const asker of askers) send(asker, { kind: 'group_report', report });
  }
}

/** Skips a worker that has just died. */
function send(worker: WorkerProcess, message: WorkerMessage): void {
  if (worker.connected) worker.send(message, () => undefined);
}
