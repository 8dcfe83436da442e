/** Runs every party in before anything is measured: what counts is the steady state of a service that has been up. */
import { jsonCall } from './bodies.mjs';

const CONNECTIONS = 64;
const WARM_UP_MS = 8_000;

/** @param {{ load: object, parties: import('./party.mjs').Party[], warmMs?: number }} bench */
export async function warmUp({ load, parties, warmMs = WARM_UP_MS }) {
  const call = { body: jsonCall(), connections: CONNECTIONS, warmMs, durationMs: 100 };
  for (const target of parties) await load.run('closedLoop', { target, ...call });
}
