import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import ts from 'typescript';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { freePort, GatewayProcess } from '../../support/platform/gateway-process.js';
import { type KeyServer, startKeyServer } from '../../support/platform/key-server.js';
import { describeWithRedis, reachRedis } from '../../support/platform/redis.js';
import { newManagementKey, testEnvironment } from '../../support/world.js';

const SAMPLE = fileURLToPath(new URL('../../../examples/extension/', import.meta.url));
const SETTINGS = `${SAMPLE}tsconfig.json`;
const PROGRAM = fileURLToPath(new URL('../../../dist/examples/extension/main.js', import.meta.url));
const CALLS = 6;
/** Three processes start. */
const PATIENCE_MS = 120_000;

/** Compiles the sample where its own settings say; the gateway beside it is built already. */
function buildSample(): void {
  const { config } = ts.readConfigFile(SETTINGS, ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, SAMPLE, undefined, SETTINGS);
  // One file at a time nobody can tell from package.json that these are modules.
  const compilerOptions = { ...parsed.options, module: ts.ModuleKind.ESNext, sourceMap: false };
  for (const file of parsed.fileNames.filter((name) => name.startsWith(SAMPLE))) {
    const [output = ''] = ts.getOutputFileNames({ ...parsed, options: compilerOptions }, file, false);
    const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), { compilerOptions, fileName: file });
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(output, outputText);
  }
}

describeWithRedis('an extension as a separate program (docs/extending.md)', () => {
  const managementKey = newManagementKey();
  let keyServer: KeyServer;
  let redis: Awaited<ReturnType<typeof reachRedis>>;
  let databaseUrl: string;
  let dataDir: string;
  let program: GatewayProcess;

  beforeAll(async () => {
    databaseUrl = await freshDatabase();
    redis = await reachRedis();
    keyServer = await startKeyServer();
    buildSample();
    dataDir = mkdtempSync(join(tmpdir(), 'gateway-extension-'));
    const settings = { ...testEnvironment(databaseUrl, dataDir, managementKey), REDIS_URL: redis.url, WORKERS: '2' };
    const own = { ACME_BASE_URL: 'http://127.0.0.1:9/', HSM_URL: keyServer.url };
    program = new GatewayProcess(`http://127.0.0.1:${await freePort()}`, { ...settings, ...own }, PROGRAM);
    await program.start();
  }, PATIENCE_MS);

  afterAll(async () => {
    await program?.stop();
    await dropDatabase(databaseUrl);
    rmSync(dataDir, { recursive: true, force: true });
    await keyServer.close();
    await redis.stop();
  });

  /** Each on a separate connection, distributed over the workers in turn. */
  async function manage(path: string, body?: object) {
    const headers = { authorization: `Bearer ${managementKey}`, connection: 'close' };
    const type = body && { 'content-type': 'application/json' };
    const sent = {
      method: body ? 'POST' : 'GET',
      headers: { ...headers, ...type },
      body: body && JSON.stringify(body),
    };
    const answer = await fetch(`${program.baseUrl}/v1/admin/${path}`, sent);
    return { status: answer.status, body: await answer.json() };
  }

  it('two workers → both have its route, its provider type and its vault', async () => {
    // At the start each worker compares the key with the stored one.
    const before = keyServer.asked.length;
    for (let call = 1; call <= CALLS; call++) {
      expect(await manage('reports/apps')).toEqual({ status: 200, body: { apps: 0 } });
      const body = { type: 'acme', name: `Acme ${call}`, slug: `acme-${call}`, secret: 'acme-secret-1234' };
      expect(await manage('providers', body)).toMatchObject({ status: 201, body: { provider: { type: 'acme' } } });
    }
    expect(keyServer.asked.slice(before)).toEqual(Array(CALLS).fill('seal'));
  });
});
