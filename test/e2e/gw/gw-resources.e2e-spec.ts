import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import { newOrganization } from '../../support/accounts/people.js';
import { anAuthEvent, recordAuthEvents } from '../../support/client-auth/exchange/auth-events.js';
import { Gw, type GwRun } from '../../support/gw/gw.js';
import { losing } from '../../support/gw/lossy-proxy.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { startTcpProxy } from '../../support/platform/tcp-proxy.js';
import { type ScriptedUpstream, startUpstream } from '../../support/proxy/upstream.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

let upstream: ScriptedUpstream;
let world: World;
let gw: Gw;

beforeAll(async () => {
  upstream = await startUpstream();
  world = await startWorld({ env: { TRUSTED_PRIVATE_HOSTS: '127.0.0.1' } });
});
beforeEach(async () => {
  upstream.forget();
  const { key } = await newAccount(world.dataSource);
  gw = new Gw({ GW_URL: world.baseUrl, GW_MANAGEMENT_KEY: key });
});
afterEach(() => gw.remove());
afterAll(async () => {
  await world.stop();
  await upstream.close();
});

const errorOf = ({ exitCode, json: document }: GwRun) => [exitCode, document?.error?.code];
const file = (name: string) => join(gw.home, name);
const addProvider = (flags = '') =>
  gw.run(`provider add --type openai --key-stdin --json ${flags}`, 'sk-of-a-provider-4711');
const organizationOf = async (app: string): Promise<string> =>
  (await world.dataSource.query('SELECT organization_id AS id FROM apps WHERE id = $1', [app]))[0].id;
const addServer = (handle: string) =>
  gw.run(`app add --type server --name Notes --handle ${handle} --key-output ${handle}.key --json`);

describe('gw provider', () => {
  it('add, update, rotate-key, remove → as in the API; the key is never printed', async () => {
    const added = await addProvider('--slug main');
    expect([added.exitCode, added.json.result.provider]).toMatchObject([0, { slug: 'main', secretHint: '4711' }]);
    expect(added.stdout).not.toContain('sk-of-a-provider');
    const changes = [
      'provider',
      'update',
      'main',
      '--name',
      'Main one',
      '--pricing',
      '{"own": {"input": 1, "output": 2}}',
      '--json',
    ];
    expect((await gw.run(changes)).json.result.provider).toMatchObject({
      ...{ name: 'Main one', pricing: { own: { input: 1, output: 2 } }, revision: 2 },
    });
    const cleared = await gw.run('provider update main --clear-pricing --status disabled --json');
    expect(cleared.json.result.provider).toMatchObject({ pricing: null, status: 'disabled', name: 'Main one' });
    const rotated = await gw.run('provider rotate-key main --key-stdin --json', 'sk-of-a-provider-0815');
    expect(rotated.json.result.provider.secretHint).toBe('0815');
    expect(errorOf(await gw.run('provider remove main --json'))).toEqual([2, 'confirmation_required']);
    expect((await gw.run('provider remove main --yes --json')).json.result.deleted).toBe(true);
    expect((await gw.run('provider list --json')).json.result.providers).toEqual([]);
  });

  it('--pricing @file → read from the file; an invalid one → exit 2', async () => {
    await addProvider();
    writeFileSync(file('prices.json'), '{"own": {"input": 1, "output": 2}}');
    const { json: updated } = await gw.run('provider update openai --pricing @prices.json --json');
    expect(updated.result.provider.pricing).toEqual({ own: { input: 1, output: 2 } });
    expect(errorOf(await gw.run('provider update openai --pricing @none.json --json'))).toEqual([2, 'invalid_option']);
    expect(errorOf(await gw.run('provider update openai --pricing {own --json'))).toEqual([2, 'invalid_option']);
  });

  it.each([
    ['provider add --type nobody --key-stdin', 'invalid_option'],
    ['provider add --type openai', 'key_required'],
    ['provider update openai', 'nothing_to_change'],
    ['provider rotate-key nobody --key-stdin', 'not_found'],
  ])('%s → exit 2 %s', async (line, code) => {
    await addProvider();
    expect(errorOf(await gw.run(`${line} --json`, 'sk-of-a-provider-4711'))).toEqual([2, code]);
  });

  it('a slug that is taken → exit 4 with the code of the API', async () => {
    await addProvider();
    expect(errorOf(await addProvider())).toEqual([4, 'slug_taken']);
  });

  it('test → one free call with the stored key; a refused key → exit 2', async () => {
    upstream.script(json(200, { data: [] }));
    await addProvider(`--base-url ${upstream.url}/`);
    expect((await gw.run('provider test openai --json')).json.result).toEqual({ validated: true });
    expect(upstream.requests.map((sent) => [sent.method, sent.header('authorization')])).toEqual([
      ['GET', 'Bearer sk-of-a-provider-4711'],
    ]);
    upstream.script(json(401, {}));
    expect(errorOf(await gw.run('provider test openai --json'))).toEqual([2, 'provider_key_invalid']);
  });

  it('--browser --no-input → the link, and an operation that can be queried', async () => {
    const { exitCode, json: document } = await gw.run('provider add --type openai --browser --no-input --json');
    const { operation } = document.result;
    expect([exitCode, operation.state]).toEqual([0, 'pending']);
    expect(operation.url).toContain('/cli/approve/');
    const again = await gw.run('provider add --type openai --browser --no-input --json');
    expect(again.json.result.operation.id).toBe(operation.id);
    expect((await gw.run(`operation status ${operation.id} --json`)).json.result.operation.state).toBe('pending');
    expect(errorOf(await gw.run(`operation wait ${operation.id} --timeout 0 --json`))).toEqual([
      5,
      'operation_pending',
    ]);
    expect(errorOf(await gw.run(`operation status op:${'0'.repeat(64)} --json`))).toEqual([4, 'operation_unknown']);
  });
});

describe('gw provider-gateway', () => {
  it('add, show, update, rotate-key, remove', async () => {
    const flags = '--type cf_aig --name edge --cloudflare-account-id account-1 --gateway-id main';
    const added = await gw.run(`provider-gateway add ${flags} --key-stdin --json`, 'token-of-the-edge-1234');
    expect([added.exitCode, added.json.result.gateway.config]).toEqual([
      0,
      { accountId: 'account-1', gatewayId: 'main' },
    ]);
    const { id } = added.json.result.gateway;
    const throughEdge = await gw.run('provider add --type openai --provider-gateway edge --json');
    expect(throughEdge.json.result.provider).toMatchObject({ providerGatewayId: id, secretHint: null });
    const renamed = await gw.run(['provider-gateway', 'update', 'edge', '--name', 'Edge of Europe', '--json']);
    expect(renamed.json.result.gateway.name).toBe('Edge of Europe');
    const rotated = await gw.run(`provider-gateway rotate-key ${id} --key-stdin --json`, 'token-of-the-edge-5678');
    expect(rotated.json.result.gateway.secretHint).toBe('5678');
    expect(errorOf(await gw.run(`provider-gateway remove ${id} --yes --json`))).toEqual([4, 'gateway_in_use']);
    await gw.run('provider remove openai --yes');
    expect((await gw.run(`provider-gateway remove ${id} --yes --json`)).exitCode).toBe(0);
    expect((await gw.run('provider-gateway list')).stdout).toBe(
      'There are no provider gateways. Add one: gw provider-gateway add\n',
    );
  });

  it.each([['cloudflare'], ['CF_AIG']])('--type %s → exit 2', async (type) => {
    expect((await gw.run(`provider-gateway add --type ${type} --name x`)).exitCode).toBe(2);
  });

  it('types → without a key', async () => {
    const { json: document } = await gw.run('provider-gateway types --json', '', { GW_MANAGEMENT_KEY: '' });
    expect(document.result.providerGateways.map(({ type }: { type: string }) => type)).toEqual(['cf_aig', 'vercel']);
  });
});

describe('gw app', () => {
  it('add --type server → the key is written to a file readable only by its owner, and not printed', async () => {
    const { exitCode, stdout, json: document } = await addServer('notes');
    const key = readFileSync(file('notes.key'), 'utf8').trim();
    expect([exitCode, document.result.api_key.key_file]).toEqual([0, file('notes.key')]);
    expect(key).toMatch(/^gw_[A-Za-z0-9]+/);
    expect(stdout).not.toContain(key);
    expect(statSync(file('notes.key')).mode & 0o777).toBe(0o600);
    expect(document.result.api_key.key_prefix).toBe(key.slice(0, document.result.api_key.key_prefix.length));
  });

  it('without --key-output, or with an existing file → exit 2, and no application', async () => {
    expect(errorOf(await gw.run('app add --type server --name Notes --json'))).toEqual([2, 'key_output_required']);
    writeFileSync(file('notes.key'), 'mine');
    expect(errorOf(await addServer('notes'))).toEqual([2, 'key_file_exists']);
    expect(readFileSync(file('notes.key'), 'utf8')).toBe('mine');
    expect(errorOf(await gw.run('app add --type server --name N --key-output none/there.key --json'))).toEqual([
      ...[2, 'key_file_unwritable'],
    ]);
    expect((await gw.run('app list --json')).json.result.apps).toEqual([]);
  });

  it('--key-output of a folder → a file with the handle, or the id', async () => {
    mkdirSync(file('keys'));
    await gw.run('app add --type server --name Notes --handle notes --key-output keys --json');
    const { json: document } = await gw.run('app add --type server --name Notes --key-output keys --json');
    expect(readFileSync(file('keys/notes.key'), 'utf8')).toMatch(/^gw_/);
    expect(document.result.api_key.key_file).toBe(file(`keys/${document.result.app.id}.key`));
    expect(statSync(document.result.api_key.key_file).mode & 0o777).toBe(0o600);
  });

  it('refused by the service → exit 2, and the reserved file is removed', async () => {
    const run = await gw.run('app add --type server --name Notes --handle -x --key-output x.key --json');
    expect(errorOf(run)).toEqual([2, 'invalid_request']);
    expect(run.json.error.message).toMatch(/^handle/);
    expect(() => statSync(file('x.key'))).toThrow('ENOENT');
  });

  it('--type mobile → the limits of the console, no key', async () => {
    const line = 'app add --type mobile --name Journal --team-id ABCDE12345 --bundle-id com.example.journal --json';
    const { json: document } = await gw.run(line);
    expect([document.result.api_key, document.result.app.config.limits.per_user.requests]).toEqual([
      ...[null, { per_minute: 10, per_day: 300 }],
    ]);
  });

  it('--file, --dry-run, validate, update, check, snippet, remove', async () => {
    await addProvider();
    const { json: shown } = await addServer('notes');
    const { config } = shown.result.app;
    writeFileSync(file('app.json'), JSON.stringify({ name: 'Notes, again', handle: 'notes', config }));
    writeFileSync(file('new.yaml'), `name: New\nhandle: fresh\nconfig: ${JSON.stringify(config)}\n`);
    expect((await gw.run('app add --file new.yaml --dry-run --json')).json.result).toEqual({ valid: true });
    expect((await gw.run('app validate --file new.yaml --json')).json.result).toEqual({ valid: true });
    expect((await gw.run('app validate notes --file app.json --json')).json.result.app_id).toBe(shown.result.app.id);
    expect((await gw.run('app update notes --file app.json --dry-run --json')).json.result.valid).toBe(true);
    const updated = await gw.run('app update notes --file app.json --json');
    expect(updated.json.result.app).toMatchObject({ name: 'Notes, again', revision: 2 });
    expect(errorOf(await gw.run('app update notes --name X --revision 1 --json'))).toEqual([
      4,
      'app_revision_conflict',
    ]);
    expect((await gw.run('app update notes --status disabled --clear-handle --json')).json.result.app).toMatchObject({
      ...{ handle: null, status: 'disabled' },
    });
    const budget = 'app update --set limits.per_app.spending.monthly_usd=5 --json';
    const { json: limited } = await gw.run(`${budget} ${shown.result.app.id}`);
    expect(limited.result.app.config.limits.per_app.spending.monthly_usd).toBe(5);
    const { stdout: trail } = await gw.run('audit list --limit 1');
    expect(trail).toContain('limits.per_app.spending.monthly_usd: none → 5');
    const wrong = await gw.run(`app update ${shown.result.app.id} --set limits.per_app.budget=5 --json`);
    expect([wrong.exitCode, wrong.json.error.message]).toEqual([2, expect.stringContaining('limits.per_app.budget')]);
    const { id } = shown.result.app;
    expect((await gw.run(`app check ${id} --json`)).json.result.appId).toBe(id);
    expect((await gw.run(`app snippet ${id}`)).stdout).toMatch(/^curl -sS/);
    expect(errorOf(await gw.run(`app remove ${id} --json`))).toEqual([2, 'confirmation_required']);
    expect((await gw.run(`app delete ${id} --yes`)).stdout).toContain(`Removed ${id}`);
  });

  it.each([
    ['{"name": "A", "config": {}, "extra": 1}', 'extra'],
    ['[]', 'must hold an application'],
    ['{"name": "A"', ''],
    ['{"config": {}}', 'name'],
    ['{"name": "A"}', 'config'],
  ])('--file %s → exit 2 that names it', async (content, named) => {
    writeFileSync(file('app.json'), content);
    const run = await gw.run('app validate --file app.json --json');
    expect(errorOf(run)).toEqual([2, 'invalid_file']);
    expect(run.json.error.message).toContain(named);
  });

  it('enforce: shows whom it would refuse, changes nothing with --dry-run, asks, then enforces every proof', async () => {
    const app_attest = { team_id: 'ABCDE12345', bundle_id: 'com.example.app', mode: 'observe' };
    const key_attestation = { package_names: ['com.example.app'], signing_certificates: ['ab'.repeat(32)] };
    const proofs = { app_attest, key_attestation };
    const authentication = { type: 'device_proofs', end_user: { source: 'app_install' }, proofs };
    const routing = { providers: { mode: 'all' }, model_rewrites: {} };
    writeFileSync(
      file('phones.json'),
      JSON.stringify({ name: 'Phones', handle: 'phones', config: { authentication, routing } }),
    );
    expect((await gw.run('app validate --file phones.json')).stdout).toContain(
      'Warning: app_attest (observe) is looser than key_attestation (enforce)',
    );
    const { app } = (await gw.run('app add --file phones.json --json')).json.result;
    const account = await organizationOf(app.id);
    const failed = { outcome: 'would_reject', reason: 'key_unknown', proof: 'app_attest', appVersion: '2.1' } as const;
    await recordAuthEvents(world.gateway, [
      anAuthEvent({ organizationId: account, appId: app.id, ...failed, authMethod: 'unproven' }),
      anAuthEvent({ organizationId: account, appId: app.id, proof: 'app_attest' }),
    ]);
    const shown = await gw.run('app enforce phones --dry-run');
    expect(shown.stdout).toContain('1 of 2 admitted attempts would be refused.');
    expect(shown.stdout).toMatch(/app_attest +key_unknown +2\.1 +1/);
    expect((await gw.run('app enforce phones --dry-run --days 1 --json')).json.result).toMatchObject({
      would_reject: 1,
    });
    expect(errorOf(await gw.run('app enforce phones --days 31 --json'))).toEqual([2, 'invalid_option']);
    expect(errorOf(await gw.run('app enforce phones --json'))).toEqual([2, 'confirmation_required']);
    const { result } = (await gw.run('app enforce phones --yes --json')).json;
    expect(result.app.config.authentication.proofs).toMatchObject({
      app_attest: { mode: 'enforce' },
      key_attestation: { mode: 'enforce' },
    });
    await addServer('notes');
    expect(errorOf(await gw.run('app enforce notes --json'))).toEqual([2, 'no_modes']);
  });

  it('keys: add into a file, list, revoke by name', async () => {
    await addServer('notes');
    const added = await gw.run('app key add notes --name Oslo --key-output oslo.key --json');
    const key = readFileSync(file('oslo.key'), 'utf8').trim();
    expect([added.exitCode, added.stdout.includes(key)]).toEqual([0, false]);
    expect((await gw.run('app key revoke notes Oslo --json')).json.result.key).toBe(added.json.result.api_key.id);
    const { json: listed } = await gw.run('app key list notes --json');
    expect(listed.result.keys.map((one: { name: string; status: string }) => [one.name, one.status])).toEqual([
      ...[
        ['Oslo', 'revoked'],
        ['Default key', 'active'],
      ],
    ]);
    expect(errorOf(await gw.run('app key revoke notes Oslo --json'))).toEqual([2, 'not_found']);
  });

  it('keys: --expires-at → stored and listed; a time in the past → refused by name, and no file', async () => {
    await addServer('notes');
    const add = 'app key add notes --name Trial --key-output trial.key --json --expires-at';
    const late = await gw.run(`${add} 2020-01-01T00:00:00Z`);
    expect([errorOf(late), late.json.error.message]).toEqual([
      [2, 'invalid_request'],
      expect.stringMatching(/expires_at/),
    ]);
    expect(existsSync(file('trial.key'))).toBe(false);
    const added = await gw.run(`${add} 2099-01-31T12:00:00+01:00`);
    expect(added.json.result.api_key.expires_at).toBe('2099-01-31T11:00:00.000Z');
    expect((await gw.run('app key list notes')).stdout).toMatch(/Trial .* 2099-01-31T11:00:00\.000Z/);
  });
});

describe('a creation whose answer is lost', () => {
  it('repeated → the same application, and its key', async () => {
    const { key } = await newAccount(world.dataSource);
    let isLost = true;
    const lossy = await losing(
      world.baseUrl,
      (method, path) => isLost && method === 'POST' && path === '/v1/admin/apps',
    );
    const environment = { GW_URL: lossy.url, GW_MANAGEMENT_KEY: key };
    const line = 'app add --type server --name Notes --key-output n.key --json';
    expect(errorOf(await gw.run(line, '', environment))).toEqual([3, 'unreachable']);
    expect((await world.as(key).get('/v1/admin/apps')).body.total).toBe(1);
    isLost = false;
    expect((await gw.run(line, '', environment)).exitCode).toBe(0);
    expect((await world.as(key).get('/v1/admin/apps')).body.total).toBe(1);
    const { keys } = (
      await world.as(key).get(`/v1/admin/apps/${(await world.as(key).get('/v1/admin/apps')).body.apps[0].id}/keys`)
    ).body;
    expect(readFileSync(file('n.key'), 'utf8').startsWith(keys[0].key_prefix)).toBe(true);
    await lossy.close();
  });
});

describe('gw usage', () => {
  it('show, breakdown and tail of an application that has not been called yet', async () => {
    await addServer('notes');
    expect((await gw.run('usage show --json')).json.result.totals.requests).toBe(0);
    expect((await gw.run('usage show')).stdout).toMatch(/^\d{4}-\d{2}, UTC; first record: [\s\S]*\nall +0 /);
    expect((await gw.run('usage show --app notes')).stdout).toContain('Cost per day');
    expect((await gw.run('usage breakdown --app notes --by user --json')).json.result.rows).toEqual([]);
    expect((await gw.run('usage tail --app notes --once --json')).json.result).toEqual({ ended: true, events: 0 });
    expect(errorOf(await gw.run('usage breakdown --app notes --from 2026-02-30 --json'))).toEqual([
      2,
      'invalid_request',
    ]);
    expect((await gw.run('usage breakdown --app notes --by nothing --json')).exitCode).toBe(2);
    const { json: ofAll } = await gw.run('usage breakdown --by app --json');
    expect([ofAll.result.app_id, ofAll.result.rows]).toEqual([null, []]);
    const { json: byTeam } = await gw.run('usage breakdown --app notes --by group:team --json');
    expect([byTeam.result.by, byTeam.result.rows]).toEqual(['group:team', []]);
    const { json: byKey } = await gw.run('usage breakdown --app notes --by key --json');
    expect(byKey.result.app_id).toMatch(/^notes-/);
  });
});

describe('gw doctor', () => {
  it('a working deployment → 0; a failing provider key → 3 with what to do', async () => {
    upstream.script(json(200, { data: [] }));
    await addProvider(`--base-url ${upstream.url}/`);
    const healthy = await gw.run('doctor --json');
    expect([healthy.exitCode, healthy.json.result.healthy]).toEqual([0, true]);
    const states = Object.fromEntries(
      healthy.json.result.checks.map(({ check, state }: { check: string; state: string }) => [check, state]),
    );
    expect(states).toMatchObject({ Postgres: 'ok', streams: 'ok', clock: 'ok', 'provider openai': 'ok', login: 'ok' });
    upstream.script(json(403, {}));
    const failing = await gw.run('doctor --json');
    expect(errorOf(failing)).toEqual([3, 'unhealthy']);
    expect(failing.json.error.nextAction).toContain('gw provider rotate-key openai');
  });

  it('a key that may only read → providers are not checked, and no provider key is blamed', async () => {
    const { owner } = await newOrganization(world);
    const keyOf = async (grant: string) =>
      (await owner.client.post('/v1/admin/keys', { name: grant, grant })).body.key.plaintext;
    const provider = { type: 'openai', name: 'OpenAI', secret: 'sk-of-a-provider-4711' };
    await world.as(await keyOf('manage')).post('/v1/admin/providers', provider);
    const run = await gw.run('doctor --json', '', { GW_MANAGEMENT_KEY: await keyOf('read') });
    expect(run.exitCode).toBe(0);
    const check = run.json.result.checks.find((one: { check: string }) => one.check === 'provider openai');
    expect([check.state, check.nextAction]).toEqual(['unknown', expect.stringContaining('GW_MANAGEMENT_KEY')]);
  });

  it('the database is down → reports all failed, passed and skipped checks', async () => {
    const database = await databaseBehindProxy();
    const other = await startWorld({ env: { DATABASE_URL: database.url } });
    const environment = { GW_URL: other.baseUrl, GW_MANAGEMENT_KEY: other.managementKey };
    const state = async () => /^State +(.*)$/m.exec((await gw.run('deployment status', '', environment)).stdout)?.[1];
    expect(await state()).toBe('ready');
    database.proxy.freeze();
    const run = await gw.run('doctor --json', '', environment);
    expect(errorOf(run)).toEqual([3, 'unhealthy']);
    const states = Object.fromEntries(
      run.json.error.details.checks.map(({ check, state }: { check: string; state: string }) => [check, state]),
    );
    expect(states).toMatchObject({ Postgres: 'failed', vault: 'ok', clock: 'ok', applications: 'unknown' });
    const { stdout, stderr } = await gw.run('doctor', '', environment);
    expect(stdout).toMatch(/^failed +Postgres/m);
    expect(stdout).toMatch(/^passed +vault/m);
    expect(stdout).toMatch(/^not checked +applications/m);
    expect(stderr).toContain('Postgres');
    expect(await state()).toBe('not ready: it refuses calls');
    database.proxy.thaw();
    await other.stop();
    await database.close();
  });

  it('no server listens → every check is named', async () => {
    const run = await gw.run('doctor --json', '', { GW_URL: 'http://127.0.0.1:1' });
    expect(errorOf(run)).toEqual([3, 'unhealthy']);
    const checks = run.json.error.details.checks.map(({ check }: { check: string }) => check);
    expect(checks).toEqual(expect.arrayContaining(['readiness', 'gateway', 'version', 'login', 'applications']));
  });
});

/** A separate database, and a connection to it that can be interrupted. */
async function databaseBehindProxy() {
  const databaseUrl = await freshDatabase();
  const url = new URL(databaseUrl);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  url.host = `127.0.0.1:${proxy.port}`;
  const close = async () => {
    await proxy.close();
    await dropDatabase(databaseUrl);
  };
  return { url: url.href, proxy, close };
}

describe('a deployment with more provider types than the document lists', () => {
  it('→ lists, adds and exports them', async () => {
    const other = await startWorld({ env: { SIMULATED_PROVIDER: 'true' } });
    const { key } = await newAccount(other.dataSource);
    const environment = { GW_URL: other.baseUrl, GW_MANAGEMENT_KEY: key };
    const { json: document } = await gw.run('provider types --json', '', environment);
    expect(document.result.providers).toContainEqual(expect.objectContaining({ type: 'simulated' }));
    const added = await gw.run('provider add --type simulated --key-stdin --json', 'any-key-will-do', environment);
    expect(added.json.result.provider.type).toBe('simulated');
    expect((await gw.run('export g --json', '', environment)).exitCode).toBe(0);
    expect((await gw.run('plan g --check --json', '', environment)).exitCode).toBe(0);
    expect((await gw.run('doctor --json', '', environment)).exitCode).toBe(0);
    await other.stop();
  });
});
