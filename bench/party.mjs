/**
 * One measured process: where to call it, how, and its process id.
 *
 * @typedef {object} Party
 * @property {string} name as printed
 * @property {number} pid the process whose CPU and memory are measured
 * @property {number} port on 127.0.0.1
 * @property {string} path of the calls
 * @property {Record<string, string>} headers besides content-type, accept and user-agent
 * @property {string} [healthPath] a GET that only this process answers; parties without one skip the leave test
 * @property {number[]} [workerPids] further processes that serve with it: their CPU counts, too
 * @property {string} [userHeader] in which each connection of the closed loop names a user of its own
 * @property {number} [status] of a proper answer, in the open loop; 200 when absent
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonCall } from './bodies.mjs';
import { forkModule } from './processes.mjs';

const CHAT_PATH = '/v1/chat/completions';
const FIRST_ANSWER_PATIENCE_MS = 5_000;
const CALL_PATIENCE_MS = 3_000;

/** The scripted provider itself. @returns {Promise<Party>} */
export async function startUpstream() {
  const { child, ready } = await forkModule('upstream.mjs');
  return { name: 'provider, direct', pid: child.pid, port: ready.port, path: CHAT_PATH, headers: bearer('sk-bench') };
}

/** The bare Node pass-through. @returns {Promise<Party>} */
export async function startPassThrough(upstreamPort) {
  const { child, ready } = await forkModule('pass-through.mjs', [`http://127.0.0.1:${upstreamPort}`]);
  const where = { port: ready.port, path: CHAT_PATH, healthPath: '/v1/healthz' };
  return { name: 'pass-through', pid: child.pid, ...where, headers: bearer('sk-bench') };
}

/** @param {string} credential */
export function bearer(credential) {
  return { authorization: `Bearer ${credential}` };
}

/**
 * Returns once a call is answered as it should be; a new configuration may take a moment. Throws with the last answer.
 *
 * @param {string} [object] what the answer says it is
 */
export async function requireAnswer({ port, path, headers }, body = jsonCall(), object = 'chat.completion') {
  const deadline = performance.now() + FIRST_ANSWER_PATIENCE_MS;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(CALL_PATIENCE_MS),
    });
    const text = await answer.text();
    if (answer.status === 200 && text.includes(`"${object}"`)) return;
    if (performance.now() > deadline) throw new Error(`a call is answered ${answer.status}: ${text.slice(0, 400)}`);
    await sleep(200);
  }
}
