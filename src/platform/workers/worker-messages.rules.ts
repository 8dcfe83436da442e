import type { MetricsReport } from '../metrics/metrics-report.rules.js';

/** Messages between a worker and the primary process. */
export type WorkerMessage =
  | { readonly kind: 'ready'; readonly banner: string }
  /** A stop follows. */
  | { readonly kind: 'stop_announced'; readonly signal: string }
  | { readonly kind: 'stop'; readonly signal: string }
  /** A worker requests the metrics of all. */
  | { readonly kind: 'group_report_wanted' }
  /** The primary requests a worker's metrics. */
  | { readonly kind: 'report_wanted' }
  | { readonly kind: 'report'; readonly report: MetricsReport }
  | { readonly kind: 'group_report'; readonly report: MetricsReport };

/** Parses a message; `undefined` for other messages on the same channel. */
export function parseWorkerMessage(message: unknown): WorkerMessage | undefined {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return undefined;
  const { kind } = message;
  if (kind === 'ready' && 'banner' in message) return { kind, banner: String(message.banner) };
  if ((kind === 'stop' || kind === 'stop_announced') && 'signal' in message) {
    return { kind, signal: String(message.signal) };
  }
  if (kind === 'group_report_wanted' || kind === 'report_wanted') return { kind };
  const isReport = kind === 'report' || kind === 'group_report';
  if (isReport && 'report' in message && Array.isArray(message.report)) return { kind, report: message.report };
  return undefined;
}
