import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** Gives the suites that need one a Postgres with a migrated database to clone. */
export default async function setUp() {
  const server = spawn(process.execPath, [pathOf('database-server.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await Promise.race([once(createInterface(server.stdout), 'line'), once(server, 'exit')]);
  if (typeof line !== 'string') throw new Error('the database of the tests did not start');
  const { adminUrl, template } = JSON.parse(line);
  process.env.TEST_ADMIN_URL = adminUrl;
  process.env.TEST_TEMPLATE = template;
  // Suites start the built service a hundred times; what was compiled once need not be compiled again.
  process.env.NODE_COMPILE_CACHE ??= pathOf('../../../node_modules/.cache/gateway-tests');
  globalThis.testDatabaseServer = server;
}
