import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamClient } from '../../support/proxy/stream-client.js';

/** How a reader read an answer to its end, over lost connections. */
interface ResumedRead {
  readonly sha256: string;
  readonly bytes: number;
  /** The last answer, requested again after its end. */
  readonly state: string;
  readonly connections: number;
}

interface ReadPlan {
  /** The instance for each connection, in turn. */
  readonly instances: readonly StreamClient[];
  /** After how many bytes each connection is lost; the last one is not. */
  readonly cuts: readonly number[];
  /** Pause between two chunks of a slow reader. */
  readonly pauseMs?: number;
}

const MOST_CONNECTIONS = 2_000;
const RETRY_MS = 50;

/**
 * Reads the answer, and loses each connection as planned. Requests that fail because an instance is down are repeated
 * on another.
 */
export async function readResumed(stream: string, { instances, cuts, pauseMs = 0 }: ReadPlan): Promise<ResumedRead> {
  const hash = createHash('sha256');
  let bytes = 0;
  for (let connections = 0; connections < MOST_CONNECTIONS; connections++) {
    const instance = instances[connections % instances.length];
    const message = await instance?.open(stream, bytes).catch(() => undefined);
    if (message?.statusCode !== 200) {
      message?.destroy();
      // This instance has less of the lost answer than another one had.
      if (message?.statusCode === 416 && stateIn(message) === 'lost')
        return { sha256: hash.digest('hex'), bytes, state: 'lost', connections: connections + 1 };
      await sleep(RETRY_MS);
      continue;
    }
    const state = stateIn(message);
    const taken = await take(message, cuts[connections] ?? Number.POSITIVE_INFINITY, pauseMs);
    for (const piece of taken.pieces) hash.update(piece);
    bytes += taken.bytes;
    const length = Number(message.headers['x-gateway-stream-length'] ?? -1);
    if (taken.isWhole || (state !== 'live' && bytes === length))
      return {
        sha256: hash.digest('hex'),
        bytes,
        state: taken.isWhole ? 'complete' : state,
        connections: connections + 1,
      };
  }
  throw new Error(`the answer did not end in ${MOST_CONNECTIONS} connections`);
}

function stateIn({ headers }: IncomingMessage): string {
  return String(headers['x-gateway-stream-state']);
}

/** The bytes of one connection, which is lost after this many of them. */
async function take(message: IncomingMessage, most: number, pauseMs: number) {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of message) {
      const taken = (piece as Buffer).subarray(0, most - bytes);
      pieces.push(taken);
      bytes += taken.length;
      if (bytes >= most) return { pieces, bytes, isWhole: false };
      if (pauseMs > 0) await sleep(pauseMs);
    }
    return { pieces, bytes, isWhole: message.complete };
  } catch {
    return { pieces, bytes, isWhole: false };
  }
}
