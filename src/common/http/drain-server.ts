import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.js';

const POLL_MS = 25;

/**
 * Drains a server: it accepts no new connections, and keep-alive connections close when idle. The caller cuts what is
 * still open afterwards.
 *
 * @param timeoutMs longest wait for open responses; 0 does not wait.
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
