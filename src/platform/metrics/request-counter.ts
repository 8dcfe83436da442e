import type { ServerResponse } from 'node:http';
import type { Metrics } from './metrics.js';
import { routeKindOf } from './route-kind.rules.js';

/** A response below this status is no refusal, even if an error followed its head. */
const FIRST_ERROR_STATUS = 400;

/**
 * Counts requests at the HTTP server, including those the framework does not handle.
 *
 * @returns a function to call once per request, before its response. All responses share one listener.
 */
export function requestCounter(metrics: Metrics): (response: ServerResponse) => void {
  const open = metrics.openRequests.of();
  function ended(this: ServerResponse): void {
    open.add(-1);
    const status = this.headersSent ? this.statusCode : 0;
    const isAnswer = status > 0 && status < FIRST_ERROR_STATUS;
    const code = isAnswer ? '' : (this.req.refusedWith ?? '');
    metrics.requestEnded(routeKindOf(this.req.url ?? ''), status, code);
  }
  return (response) => {
    open.add();
    response.on('close', ended);
  };
}
