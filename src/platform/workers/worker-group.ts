import type { MetricsReport } from '../metrics/metrics-report.rules.js';
import { parseWorkerMessage, type WorkerMessage } from './worker-messages.rules.js';

/** Exceeds the primary's own response timeout. */
const ANSWER_MS = 1_000;

/** The channel to the primary process. */
export interface GroupChannel {
  on(event: 'message', listener: (message: unknown) => void): unknown;
  send?(message: WorkerMessage): unknown;
}

/** The processes that share a port with this one; any of them reports the metrics of all. */
export class WorkerGroup {
  private own: () => MetricsReport = () => [];
  private pending: ((report: MetricsReport) => void)[] = [];

  /** @param channel absent in a single-process service. */
  constructor(private readonly channel: GroupChannel | undefined) {
    channel?.on('message', (message) => this.receive(parseWorkerMessage(message)));
  }

  /** Sets the source of this process's report. */
  reportFrom(own: () => MetricsReport): void {
    this.own = own;
  }

  /**
   * The combined metrics; synchronous in a single process. @returns undefined when the primary process does not answer.
   */
  report(): MetricsReport | Promise<MetricsReport | undefined> {
    const { channel } = this;
    if (channel === undefined) return this.own();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.pending = this.pending.filter((waiting) => waiting !== answer);
        resolve(undefined);
      }, ANSWER_MS);
      const answer = (report: MetricsReport) => {
        clearTimeout(timer);
        resolve(report);
      };
      this.pending.push(answer);
      channel.send?.({ kind: 'group_report_wanted' });
    });
  }

  private receive(message: WorkerMessage | undefined): void {
    if (message?.kind === 'report_wanted') this.channel?.send?.({ kind: 'report', report: this.own() });
    if (message?.kind !== 'group_report') return;
    const { pending } = this;
    this.pending = [];
    for (const answer of pending) answer(message.report);
  }
}
