import type { MetricsReport } from '../metrics/metrics-report.rules.js';
import { parseWorkerMessage, type WorkerMessage } from './worker-messages.rules.js';

/** Longer than the first process waits for the others. */
const ANSWER_MS = 1_000;

/** The way to the process that started this one. */
export interface GroupChannel {
  on(event: 'message', listener: (message: unknown) => void): unknown;
  send?(message: WorkerMessage): unknown;
}

/** The processes that share a port with this one: what all of them have counted, told by any. */
export class WorkerGroup {
  private own: () => MetricsReport = () => [];
  private asking: ((report: MetricsReport) => void)[] = [];

  /** @param channel absent where this process serves alone. */
  constructor(private readonly channel: GroupChannel | undefined) {
    channel?.on('message', (message) => this.hear(parseWorkerMessage(message)));
  }

  /** Sets what this process tells of itself. */
  tells(own: () => MetricsReport): void {
    this.own = own;
  }

  /** What all have counted, at once where this process is alone. @returns undefined where the first process is silent. */
  report(): MetricsReport | Promise<MetricsReport | undefined> {
    const { channel } = this;
    if (channel === undefined) return this.own();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.asking = this.asking.filter((waiting) => waiting !== answer);
        resolve(undefined);
      }, ANSWER_MS);
      const answer = (report: MetricsReport) => {
        clearTimeout(timer);
        resolve(report);
      };
      this.asking.push(answer);
      channel.send?.({ kind: 'group_report_wanted' });
    });
  }

  private hear(message: WorkerMessage | undefined): void {
    if (message?.kind === 'report_wanted') this.channel?.send?.({ kind: 'report', report: this.own() });
    if (message?.kind !== 'group_report') return;
    const { asking } = this;
    this.asking = [];
    for (const answer of asking) answer(message.report);
  }
}
