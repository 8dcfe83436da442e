import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startGateway } from '../../../src/bootstrap/start.js';
import { ApiClient } from '../../support/api-client.js';
import { startWorld, type World } from '../../support/world.js';

const OTHER = Buffer.alloc(32, 8).toString('base64');
const THIRD = Buffer.alloc(32, 9).toString('base64');
const V1 = 'SECRET_VAULT_LOCAL_KEK_V1';
const V2 = 'SECRET_VAULT_LOCAL_KEK_V2';
const CURRENT = 'SECRET_VAULT_LOCAL_KEK_CURRENT_VERSION';
const PROVIDER = { type: 'openai', name: 'P', secret: 'sk-of-a-provider' };

let world: World;
let directory: string;

beforeEach(async () => {
  world = await startWorld();
  directory = mkdtempSync(join(tmpdir(), 'gateway-vault-fit-'));
});
afterEach(async () => {
  await world.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** After the service of the world has ended. */
async function query(sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  const { rows } = await client.query(sql).finally(() => client.end());
  return rows;
}

/** The report of another start on the same database about its keys. */
async function startedWith(settings: Readonly<Record<string, string>>) {
  const lines: Record<string, unknown>[] = [];
  const environment = { ...world.environment, DATA_DIR: directory, ...settings };
  const gateway = await startGateway(environment, { log: (line) => lines.push(JSON.parse(line)) });
  try {
    const api = new ApiClient(gateway.url, world.check, world.managementKey);
    const health = JSON.parse(await (await fetch(`${gateway.url}/v1/healthz`)).text());
    const { status } = await api.post('/v1/admin/providers', {
      ...PROVIDER,
      slug: `p-${Math.random().toString(36).slice(2)}`,
    });
    const told = lines.filter(({ message }) => /^(?:secret_vault|signing_secret)/.test(String(message)));
    return {
      vault: health.vault,
      status,
      told: told.map(({ message, error, variable }) => [message, error ?? variable]),
    };
  } finally {
    await gateway.stop('test');
  }
}

const FITS = { vault: 'ok', status: 201, told: [] };
const wrong = (variable: string) => ({
  ...{ vault: 'misconfigured', status: 502 },
  told: [['secret_vault_misconfigured', `${variable} is not the key that sealed what is stored`]],
});

describe('a well-formed but wrong vault key', () => {
  it('misconfigured, named in the log, and nothing is sealed with it; the right key again → ok', async () => {
    await world.gateway.stop('test');
    expect(await startedWith({ [V1]: OTHER })).toEqual(wrong(V1));
    expect(await startedWith({})).toEqual(FITS);
  });

  it('an older deployment, with secrets and without a canary → the same', async () => {
    expect((await world.api.post('/v1/admin/providers', PROVIDER)).status).toBe(201);
    await world.gateway.stop('test');
    await query('DELETE FROM key_canaries');
    expect(await startedWith({ [V1]: OTHER })).toEqual(wrong(V1));
    expect(await query("SELECT name FROM key_canaries WHERE name LIKE 'vault%'")).toEqual([]);
    expect(await startedWith({})).toEqual(FITS);
  });

  it('a wrong key of a retired version → misconfigured while secrets need it, ignored afterwards', async () => {
    expect((await world.api.post('/v1/admin/providers', PROVIDER)).status).toBe(201);
    await world.gateway.stop('test');
    const rotated = { [V2]: OTHER, [CURRENT]: '2' };
    expect(await startedWith(rotated)).toEqual(FITS);
    expect(await startedWith({ ...rotated, [V1]: THIRD })).toEqual(wrong(V1));
    await query("DELETE FROM providers WHERE secret_blob LIKE 'local1.1.%'");
    expect(await startedWith({ ...rotated, [V1]: THIRD })).toEqual(FITS);
    expect(await startedWith({ ...rotated, [V2]: THIRD })).toEqual(wrong(V2));
  });
});

it.each(['JWT_SECRET', 'AUTH_SECRET'])('a wrong %s → logged once', async (variable) => {
  await world.gateway.stop('test');
  const changed = { [variable]: 'quite another secret of this variable' };
  expect((await startedWith(changed)).told).toEqual([['signing_secret_changed', variable]]);
  expect((await startedWith(changed)).told).toEqual([]);
});
