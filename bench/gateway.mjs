/** This gateway, built, on its embedded database in a temporary data directory, with one provider and one application. */
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bearer } from './party.mjs';
import { freePort, lastOutput, startProgram, waitUntilUp } from './processes.mjs';

const MAIN = fileURLToPath(new URL('../dist/server/main.js', import.meta.url));
const START_PATIENCE_MS = 120_000;
const CALL_PATIENCE_MS = 15_000;
const MANAGEMENT_KEY = `gw_mgmt_${'B3nch'.repeat(10).slice(0, 48)}`;
const HEALTH_PATH = '/v1/healthz';

/**
 * Starts it and makes what a call needs. Throws with the gateway's last output when it does not come up.
 *
 * @param {number} upstreamPort
 * @param {string} tempDir
 * @param {Record<string, string>} settings beside or in place of the bench's own
 * @returns {Promise<import('./party.mjs').Party>}
 */
export async function startGateway(upstreamPort, tempDir, settings = {}) {
  const gateway = await launchGateway(tempDir, settings);
  await addProvider(gateway, upstreamPort);
  const { appId, appKey } = await addApp(gateway, { type: 'api_key' });
  return {
    name: 'this gateway',
    pid: gateway.pid,
    port: gateway.port,
    path: chatPathOf(appId),
    headers: bearer(appKey),
    healthPath: HEALTH_PATH,
  };
}

/**
 * Starts the gateway alone.
 *
 * @param {string} tempDir is made when it is not there
 * @param {Record<string, string>} settings beside or in place of the bench's own
 * @returns `{ pid, port, dataDir, manage }`, where `manage(route, body)` creates something and answers with it
 */
export async function launchGateway(tempDir, settings = {}) {
  if (!existsSync(MAIN)) throw new Error('dist/server/main.js is missing: run npm run build');
  makeReachable(tempDir);
  const port = await freePort();
  const env = { ...gatewayEnvironment(port, tempDir), ...settings };
  const child = startProgram(process.execPath, [MAIN], { cwd: tempDir, env });
  const origin = `http://127.0.0.1:${port}`;
  await waitUntilUp(child, `${origin}${HEALTH_PATH}`, START_PATIENCE_MS);
  const manage = (route, body) =>
    managed(origin, route, body).catch((error) => {
      throw new Error(`${error.message}\n${lastOutput(child)}`);
    });
  return { pid: child.pid, port, dataDir: env.DATA_DIR, manage };
}

/** Makes a directory; the embedded database may run as another user, who must be able to reach its own below this one. */
export function makeReachable(dir) {
  mkdirSync(dir, { recursive: true, mode: 0o711 });
}

/**
 * One OpenAI provider, answered by the bench's own.
 *
 * @param {{ slug?: string, baseUrl?: string }} members beside or in place of the usual ones
 */
export async function addProvider({ manage }, upstreamPort, members = {}) {
  const baseUrl = `http://127.0.0.1:${upstreamPort}/`;
  const provider = { type: 'openai', name: 'Bench', secret: 'sk-bench-0123456789', baseUrl };
  await manage('/v1/admin/providers', { ...provider, ...members });
}

/**
 * @param {object} authentication of the application's configuration
 * @param {Record<string, object>} [endpoints] of it
 * @param {object} [limits] of it
 */
export async function addApp({ manage }, authentication, endpoints = {}, limits = {}) {
  const routing = { providers: { mode: 'all' }, model_rewrites: {} };
  const config = { authentication, routing, endpoints, limits };
  const { app, api_key: apiKey } = await manage('/v1/admin/apps', { name: 'Bench', config });
  return { appId: app.id, appKey: apiKey?.key, appKeyId: apiKey?.id };
}

/** Where a chat completion call of an application goes. */
export function chatPathOf(appId) {
  return `/v1/apps/${appId}/proxy/openai/v1/chat/completions`;
}

/** Where a call of the Responses API goes. */
export function responsesPathOf(appId) {
  return `/v1/apps/${appId}/proxy/openai/v1/responses`;
}

/** Where a call of a named endpoint goes. */
export function endpointPathOf(appId, slug) {
  return `/v1/apps/${appId}/endpoints/${slug}`;
}

/** Nothing of the caller's environment but what programs need to run: above all, not its DATABASE_URL or REDIS_URL. */
export function gatewayEnvironment(port, tempDir) {
  const { PATH, HOME, LANG, TMPDIR } = process.env;
  return {
    PATH,
    HOME,
    ...(LANG && { LANG }),
    ...(TMPDIR && { TMPDIR }),
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    DATA_DIR: path.join(tempDir, 'data'),
    TRUSTED_PRIVATE_HOSTS: '127.0.0.1',
    BOOTSTRAP_MANAGEMENT_KEY: MANAGEMENT_KEY,
    STOP_DELAY_SECONDS: '0',
    LOG_LEVEL: 'warn',
  };
}

/** Creates something through the management API of the gateway behind `origin`. */
export async function managed(origin, route, body) {
  const answer = await fetch(`${origin}${route}`, {
    method: 'POST',
    headers: { ...bearer(MANAGEMENT_KEY), 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(CALL_PATIENCE_MS),
  });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`POST ${route} answered ${answer.status}: ${text.slice(0, 400)}`);
  return JSON.parse(text);
}
