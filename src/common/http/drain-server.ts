import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.js';

const POLL_MS = 25;

/**
 * Lets open responses finish: no new connections are taken, kept-alive ones are closed as they fall idle, and what is
 * still open when the time is up is left to the caller to cut.
 *
 * @param timeoutMs how long open responses may take; 0 does not wait.
 * Source: docs/reference/application-api.md#provider-failures.
 */
export async function drainServer(server: Server, timeoutMs: number, clock: Clock): Promise<void> {
  const deadlineMs = clock.monotonicMs() + timeoutMs;
  let open = true;
  server.close(() => {
    open = false;
  });
  while (open && clock.monotonicMs() < deadlineMs) {
    server.closeIdleConnections();
    await sleep(POLL_MS);
  }
}
