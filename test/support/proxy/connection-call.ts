import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { ProviderConnection } from '../../../src/proxy/connections/provider-connection.js';
import type { ResponseHead } from '../../../src/proxy/connections/response-head.rules.js';
import type { SentRequest } from '../../../src/proxy/connections/sent-request.rules.js';

const GET: SentRequest = { method: 'GET', path: '/', headers: [], body: undefined, ttfbTimeoutMs: 0 };

/** A call on a connection. @returns the final head and the whole body; rejects with the failure of the call. */
export function callOn(
  connection: ProviderConnection,
  request: Partial<SentRequest> = {},
): Promise<{ head: ResponseHead; body: Buffer }> {
  return new Promise((resolve, reject) => {
    let final: ResponseHead | undefined;
    const pieces: Buffer[] = [];
    connection.send(
      { ...GET, ...request },
      {
        onSend: () => {},
        onHead: (head) => {
          if (head.status >= 200) final = head;
        },
        onBytes: (bytes) => pieces.push(bytes),
        onEnd: () => {
          if (final === undefined) reject(new Error('the answer ended without a final head'));
          else resolve({ head: final, body: Buffer.concat(pieces) });
        },
        onFailure: reject,
      },
    );
  });
}

/** Waits until the event loop has read once more from all sockets: connections whose calls have ended are free then. */
export async function socketsRead(): Promise<void> {
  await endOfTurn();
  await endOfTurn();
}
