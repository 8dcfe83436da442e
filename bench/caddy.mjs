/** Caddy as a plain reverse proxy, where it is installed. Its threads count: CPU seconds are those of the process. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bearer } from './party.mjs';
import { findOnPath, freePort, startProgram, waitUntilUp } from './processes.mjs';

const START_PATIENCE_MS = 15_000;

/**
 * Throws when Caddy is not on the PATH or does not start.
 *
 * @param {number} upstreamPort
 * @param {string} tempDir
 * @returns {Promise<import('./party.mjs').Party>}
 */
export async function startCaddy(upstreamPort, tempDir) {
  const program = findOnPath('caddy');
  if (!program) throw new Error('caddy is not on the PATH');
  const port = await freePort();
  const home = path.join(tempDir, 'caddy');
  const configFile = path.join(home, 'Caddyfile');
  mkdirSync(home);
  writeFileSync(configFile, caddyfile(port, upstreamPort));
  const args = ['run', '--config', configFile, '--adapter', 'caddyfile'];
  const env = { HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home };
  const child = startProgram(program, args, { cwd: home, env });
  await waitUntilUp(child, `http://127.0.0.1:${port}/caddy-is-up`, START_PATIENCE_MS);
  return { name: 'caddy', pid: child.pid, port, path: '/v1/chat/completions', headers: bearer('sk-bench') };
}

/** Kept-alive upstream connections for every client, and no buffering: the settings that suit Caddy best here. */
function caddyfile(port, upstreamPort) {
  return `{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  bind 127.0.0.1
  respond /caddy-is-up 200
  reverse_proxy 127.0.0.1:${upstreamPort} {
    flush_interval -1
    transport http {
      keepalive_idle_conns 4096
      keepalive_idle_conns_per_host 4096
      compression off
    }
  }
}
`;
}
