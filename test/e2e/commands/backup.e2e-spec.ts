import { execFile } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../src/platform/embedded-postgres/embedded-postgres.js';
import { created } from '../../support/accounts/management-call.js';
import { eventually } from '../../support/eventually.js';
import { dropDatabase, emptyDatabase, freshDatabase } from '../../support/platform/database.js';
import { freePort, GatewayProcess, programEnvironment } from '../../support/platform/gateway-process.js';
import { markerText, plainCompletion, type ScriptedUpstream, startUpstream } from '../../support/proxy/upstream.js';
import { event, hold, json } from '../../support/proxy/upstream-scripts.js';
import { MarkedLoad } from '../../support/usage/recording/marked-load.js';
import { MONTHS_OUT_OF_STEP } from '../../support/usage/recording/usage-sums.js';
import { newManagementKey, testEnvironment } from '../../support/world.js';

const PROGRAMS = fileURLToPath(new URL('../../../dist/src/commands/', import.meta.url));
const USER_HEADER = 'x-test-user';
const CLIENTS = 8;
/** The account of an embedded Postgres has to reach its files. */
const PASSABLE = 0o711;
/** Settings that a site with an embedded database generates, or does without. */
const OWN = /^(DATABASE_URL|SECRET_VAULT_|JWT_SECRET|AUTH_SECRET)/;
/** Programs of the service start a dozen times, each in a second where the machine is quiet. */
const LONG_MS = 300_000;
const SOON = { withinMs: 60_000 };
const PRINTED = /^(\S+) (\d+) bytes, taken_at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\n$/;

/** A database and a data directory, and the service on them. */
class Site {
  private constructor(
    readonly settings: Readonly<Record<string, string>>,
    readonly gateway: GatewayProcess,
  ) {}

  /** @param databaseUrl absent: an embedded database, with keys of its own. */
  static async on(databaseUrl?: string): Promise<Site> {
    const dataDir = mkdtempSync(join(directory, 'site-'));
    chmodSync(dataDir, PASSABLE);
    const external = testEnvironment(databaseUrl ?? '', dataDir, managementKey);
    const settings = Object.fromEntries(
      Object.entries({ ...external, LOG_LEVEL: 'warn' }).filter(
        ([name]) => databaseUrl !== undefined || !OWN.test(name),
      ),
    );
    const site = new Site(settings, new GatewayProcess(`http://127.0.0.1:${await freePort()}`, settings));
    sites.push(site);
    return site;
  }

  get dataDir(): string {
    return String(this.settings.DATA_DIR);
  }

  /** Runs a command of the service with the settings of this site. */
  run(command: string, ...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const env = programEnvironment(this.settings);
    return new Promise((resolve) => {
      execFile(process.execPath, [join(PROGRAMS, `${command}.js`), ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  }

  async query<T extends object>(sql: string): Promise<T[]> {
    const client = new pg.Client({ connectionString: this.settings.DATABASE_URL });
    await client.connect();
    const { rows } = await client.query(sql).finally(() => client.end());
    return rows;
  }

  /** Recorded calls by marker, once the journals of killed processes are stored. */
  async calls(): Promise<Map<string, string[]>> {
    const rows = await this.query<{ marker: string; source: string }>(
      `SELECT user_id AS marker, cost_source AS source FROM usage_events`,
    );
    const byMarker = Map.groupBy(rows, ({ marker }) => marker);
    return new Map([...byMarker].map(([marker, same]) => [marker, same.map(({ source }) => source)]));
  }

  async remove(): Promise<void> {
    await this.gateway.kill();
    const { DATABASE_URL: url } = this.settings;
    if (url !== undefined) return dropDatabase(url);
    const adopted = await startEmbeddedPostgres(this.dataDir, { disposable: true });
    await adopted.stop();
  }
}

const managementKey = newManagementKey();
const held = hold(event({ id: 'chatcmpl-held', object: 'chat.completion.chunk', choices: [] }));
const sites: Site[] = [];
let directory: string;
let upstream: ScriptedUpstream;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'backup-'));
  chmodSync(directory, PASSABLE);
  upstream = await startUpstream({
    script: async (exchange) => {
      const isHeld = (await exchange.body()).includes(markerText('held'));
      await (isHeld ? held.script : json(200, plainCompletion))({ ...exchange, body: async () => Buffer.alloc(0) });
    },
  });
});

afterEach(async () => {
  for (const site of sites.splice(0)) await site.remove();
});

afterAll(async () => {
  await upstream.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A site that serves, with a provider and an application, and the headers and address of its calls. */
async function servingSite(databaseUrl?: string) {
  const site = await Site.on(databaseUrl);
  await site.gateway.start();
  const service = { baseUrl: site.gateway.baseUrl, managementKey };
  const provider = { type: 'openai', name: 'json', slug: 'json', secret: 'sk-of-a-site', baseUrl: `${upstream.url}/` };
  await created(service, '/v1/admin/providers', provider);
  const { app, api_key: key } = await created(service, '/v1/admin/apps', {
    name: 'Copied',
    config: {
      authentication: { type: 'api_key', end_user: { source: 'header', header: USER_HEADER } },
      routing: { providers: { mode: 'all' }, model_rewrites: {} },
    },
  });
  const path = `/v1/apps/${app.id}/proxy/json/v1/chat/completions`;
  const headers = { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' };
  return { site, path, headers };
}

function call(site: Site, path: string, headers: Record<string, string>, marker: string): Promise<Response> {
  const messages = [{ role: 'user', content: markerText(marker) }];
  const body = JSON.stringify({ model: 'gpt-4.1', stream: marker === 'held', messages });
  return fetch(site.gateway.baseUrl + path, { method: 'POST', headers: { ...headers, [USER_HEADER]: marker }, body });
}

it(
  'a copy under load, the site killed → elsewhere every key works, and every call before the copy is there once',
  async () => {
    const { site, path, headers } = await servingSite(await freshDatabase());
    const load = new MarkedLoad([{ url: site.gateway.baseUrl + path, stream: false }], headers, USER_HEADER);
    load.start(CLIENTS);
    const cut = call(site, path, headers, 'held').catch(() => undefined);
    await eventually(() => held.open() === 1 && load.completed.size > 50, SOON);
    const before = [...load.completed.keys()];
    const file = join(directory, 'copy.gz');

    const made = await site.run('backup', file);

    const enough = load.completed.size + 50;
    await eventually(() => load.completed.size > enough, SOON);
    await site.gateway.kill();
    await Promise.all([load.stop(), cut]);
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('keys of the vault are not in the file') });
    const [, name, bytes] = PRINTED.exec(made.stdout) ?? [];
    expect([name, Number(bytes), statSync(file).mode & 0o777]).toEqual([file, statSync(file).size, 0o600]);

    const elsewhere = await Site.on(await emptyDatabase());
    const restored = await elsewhere.run('restore', file);
    expect(restored).toMatchObject({ code: 0, stdout: made.stdout });
    await elsewhere.gateway.start();
    expect((await call(elsewhere, path, headers, 'after')).status).toBe(200);
    // Ids go on after those of the copy.
    const other = { type: 'groq', name: 'other', slug: 'other', secret: 'sk-other' };
    await created({ baseUrl: elsewhere.gateway.baseUrl, managementKey }, '/v1/admin/providers', other);
    await elsewhere.gateway.stop();
    const calls = await elsewhere.calls();
    expect(before.filter((marker) => calls.get(marker)?.join() !== 'computed')).toEqual([]);
    expect(calls.get('held')).toEqual(['unresolved']);
    expect([...calls.values()].filter((same) => same.length !== 1)).toEqual([]);
    expect(await elsewhere.query(MONTHS_OUT_OF_STEP)).toEqual([]);
    expect(await elsewhere.run('verify-ledger')).toMatchObject({ code: 0 });

    const later = await Site.on(await emptyDatabase());
    const withJournal = await later.run('restore', file, '--journal', join(site.dataDir, 'journal'));
    expect(withJournal).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/stores \d+ calls .* and \d+ that were open/),
    });
    await later.gateway.start();
    await later.gateway.stop();
    const stored = await site.calls();
    const beyond = await later.calls();
    const lacking = [...load.completed.keys()].filter((marker) => !beyond.has(marker));
    // Only events that the dead site's own database has, and its journal no longer, can be missing.
    expect(lacking.filter((marker) => !stored.has(marker))).toEqual([]);
    expect([...beyond.values()].filter((same) => same.length !== 1)).toEqual([]);
    expect(await later.run('verify-ledger')).toMatchObject({ code: 0 });
  },
  LONG_MS,
);

it(
  'a place that is not empty, and a damaged file → refused with what to do, nothing is changed',
  async () => {
    const { site } = await servingSite(await freshDatabase());
    const file = join(directory, 'refused.gz');
    expect(await site.run('backup', file)).toMatchObject({ code: 0 });
    const refusals = async (place: Site, copy: string) => {
      const { code, stdout, stderr } = await place.run('restore', copy);
      expect([code, stdout]).toEqual([1, '']);
      return stderr;
    };
    expect(await refusals(site, file)).toContain('a gateway runs on this database: stop it first');
    await site.gateway.stop();
    expect(await refusals(site, file)).toContain('the database has accounts: choose an empty one');

    const elsewhere = await Site.on(await emptyDatabase());
    const short = join(directory, 'short.gz');
    copyFileSync(file, short);
    truncateSync(short, statSync(file).size - 100);
    expect(await refusals(elsewhere, short)).toMatch(/^Nothing was restored: /);
    writeFileSync(short, gunzipSync(readFileSync(file)));
    expect(await refusals(elsewhere, short)).toMatch(/^Nothing was restored: /);
    expect(await refusals(elsewhere, join(directory, 'absent.gz'))).toContain('ENOENT');
    const journal = join(elsewhere.dataDir, 'journal', 'another');
    mkdirSync(journal, { recursive: true });
    writeFileSync(join(journal, '00000001.log'), '');
    expect(await refusals(elsewhere, file)).toContain('has journals: choose an empty DATA_DIR');
    rmSync(journal, { recursive: true });
    expect(await elsewhere.run('restore', file)).toMatchObject({ code: 0 });
  },
  LONG_MS,
);

it(
  'a site on an embedded database, copied while it runs → starts elsewhere with its vault keys, and says without them',
  async () => {
    const { site, path, headers } = await servingSite();
    expect((await call(site, path, headers, 'first')).status).toBe(200);
    const file = join(directory, 'embedded.gz');
    expect(await site.run('backup', file)).toMatchObject({ code: 0 });
    await site.gateway.stop();

    const keyless = await Site.on();
    expect(await keyless.run('restore', file)).toMatchObject({
      stderr: expect.stringContaining('secret_vault_misconfigured'),
    });
    const elsewhere = await Site.on();
    cpSync(join(site.dataDir, 'secrets'), join(elsewhere.dataDir, 'secrets'), { recursive: true });
    const restored = await elsewhere.run('restore', file);
    expect(restored).toMatchObject({ code: 0, stderr: expect.not.stringContaining('secret_vault_misconfigured') });
    await elsewhere.gateway.start();
    const answer = await call(elsewhere, path, headers, 'second');
    expect([answer.status, await answer.json()]).toEqual([200, plainCompletion]);
    await elsewhere.gateway.stop();
  },
  LONG_MS,
);
