import type { ServerResponse } from 'node:http';
import type { Metrics } from './metrics.js';
import { routeKindOf } from './route-kind.rules.js';

/** Below it an answer is no refusal, whatever was refused after it had begun. */
const FIRST_ERROR_STATUS = 400;

/**
 * Counts requests where they come in, whoever answers them.
 *
 * @returns to be called once for each request, before it is answered. All answers share one listener.
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
