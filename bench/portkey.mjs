/** The Portkey gateway for comparison: fetched on demand into the machine's temporary folder and kept there. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bearer } from './party.mjs';
import { freePort, startProgram, waitUntilUp } from './processes.mjs';

const VERSION = '1.15.2';
/** Later releases of this dependency make every Portkey stream a 500 (Portkey-AI/gateway, issue 1389). */
const NODE_SERVER_VERSION = '1.13.7';
const INSTALL_PATIENCE_MS = 120_000;
const START_PATIENCE_MS = 30_000;
const LOOPBACK_ONLY = fileURLToPath(new URL('loopback-only.mjs', import.meta.url));

/**
 * Throws when it can neither be found nor installed, or does not start.
 *
 * @param {number} upstreamPort
 * @returns {Promise<import('./party.mjs').Party>}
 */
export async function startPortkey(upstreamPort) {
  const home = path.join(
    os.tmpdir(),
    `gateway-bench-portkey-${VERSION}-${NODE_SERVER_VERSION}-${os.userInfo().username}`,
  );
  const main = path.join(home, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  if (!existsSync(main)) await install(home);
  const port = await freePort();
  const { PATH, HOME } = process.env;
  const child = startProgram(process.execPath, ['--import', LOOPBACK_ONLY, main, `--port=${port}`, '--headless'], {
    cwd: home,
    env: { PATH, HOME, NODE_ENV: 'production' },
  });
  await waitUntilUp(child, `http://127.0.0.1:${port}/`, START_PATIENCE_MS);
  const headers = {
    ...bearer('sk-bench'),
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
  };
  return { name: `portkey ${VERSION}`, pid: child.pid, port, path: '/v1/chat/completions', headers };
}

/** Install scripts stay off: the published build needs none. */
async function install(home) {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const manifest = {
    private: true,
    dependencies: { '@portkey-ai/gateway': VERSION },
    overrides: { '@hono/node-server': NODE_SERVER_VERSION },
  };
  writeFileSync(path.join(home, 'package.json'), JSON.stringify(manifest));
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts'];
  await promisify(execFile)('npm', args, { timeout: INSTALL_PATIENCE_MS, cwd: home });
}
