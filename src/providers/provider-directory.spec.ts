import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { aProviderRow } from '../../test/support/providers/provider-instances.js';
import { SystemClock } from '../common/clock.js';
import { SystemIds } from '../common/ids.js';
import { Log } from '../common/log/log.js';
import { Secret } from '../common/log/secret.js';
import { loadEnvironment } from '../platform/config/environment.js';
import { ConfigChanges, EVERYTHING } from '../platform/database/config-changes.js';
import { createVault } from '../platform/vault/create-vault.js';
import { readVaultSettings } from '../platform/vault/vault-settings.rules.js';
import type { ProviderRow } from './provider.entity.js';
import { ProviderDirectory } from './provider-directory.js';
import type { ProviderGatewayRow } from './provider-gateways/provider-gateway.entity.js';
import { PROVIDER_GATEWAYS_TOPIC, ProviderGatewayListing } from './provider-gateways/provider-gateway-listing.js';
import { ProviderGatewaysRepository } from './provider-gateways/provider-gateways.repository.js';
import { ProviderRoutes } from './provider-routes.service.js';
import { ProvidersRepository } from './providers.repository.js';
import { gatewaySecretContext, providerSecretContext } from './sealed-credential.rules.js';

/** A repository with rows in memory. */
class StoredRows extends ProvidersRepository {
  rows: ProviderRow[] = [];
  reads = 0;

  constructor() {
    super(new DataSource({ type: 'postgres' }));
  }

  override async list(organizationId: string): Promise<ProviderRow[]> {
    this.reads++;
    return this.rows.filter((row) => row.organizationId === organizationId);
  }
}

/** Gateways in memory; counts reads like the rows. */
class StoredGateways extends ProviderGatewaysRepository {
  rows: ProviderGatewayRow[] = [];
  reads = 0;

  constructor() {
    super(new DataSource({ type: 'postgres' }));
  }

  override async list(organizationId: string): Promise<ProviderGatewayRow[]> {
    this.reads++;
    return this.rows.filter((row) => row.organizationId === organizationId);
  }
}

/** Changes published by the test, without a connection. */
class SpokenChanges extends ConfigChanges {
  readonly announce = (key: string, topic = 'providers') => this.applyHere({ topic, key });
}

const THIEF = { accountId: 'thief', gatewayId: 'main' };
const GATEWAY: ProviderGatewayRow = {
  id: 'g1',
  organizationId: 'account-1',
  type: 'cf_aig',
  name: 'Edge',
  config: { accountId: 'acc', gatewayId: 'main' },
  secretBlob: '',
  secretHint: 'oken',
  revision: 1,
  status: 'active',
  createdBy: 'identity-1',
  createdAt: new Date('2026-01-01T00:00:00.000Z'),
  updatedAt: new Date('2026-01-01T00:00:00.000Z'),
};

const rowOf = (members: Partial<ProviderRow>) => aProviderRow({ id: 'p1', name: 'First', ...members });

function setUp() {
  const clock = new SystemClock();
  const lines: Record<string, unknown>[] = [];
  const stored = new StoredRows();
  const gateways = new StoredGateways();
  const changes = new SpokenChanges({ url: new Secret('postgres://nowhere'), onTrouble: () => {} });
  const env = { SECRET_VAULT_MODE: 'local', SECRET_VAULT_LOCAL_KEK_V1: Buffer.alloc(32, 7).toString('base64') };
  const vault = createVault(readVaultSettings(env), new SystemIds());
  const log = new Log(clock, 'debug', (line) => lines.push(JSON.parse(line)));
  const routes = new ProviderRoutes(new ProviderGatewayListing(gateways), loadEnvironment({}));
  const directory = new ProviderDirectory(stored, routes, changes, vault, clock, log);
  const sealed = async (row: ProviderRow, key: string): Promise<ProviderRow> => ({
    ...row,
    secretBlob: await vault.seal(new Secret(key), providerSecretContext(row)),
  });
  const gatewayWith = async (token: string, members: Partial<ProviderGatewayRow> = {}): Promise<ProviderGatewayRow> => {
    const row = { ...GATEWAY, ...members };
    return { ...row, secretBlob: await vault.seal(new Secret(token), gatewaySecretContext(row)) };
  };
  return { stored, gateways, changes, directory, lines, sealed, gatewayWith };
}

describe('ProviderDirectory', () => {
  it('account: first call → loaded once; cached → the same frozen set, synchronously', async () => {
    const { stored, directory } = setUp();
    stored.rows = [rowOf({}), rowOf({ id: 'p2', slug: 'second' }), rowOf({ id: 'p3', organizationId: 'account-2' })];
    const [set] = await Promise.all([directory.forOrganization('account-1'), directory.forOrganization('account-1')]);
    expect(directory.forOrganization('account-1')).toBe(set);
    expect(stored.reads).toBe(1);
    expect(set.all.map(({ id }) => id)).toEqual(['p1', 'p2']);
    expect(Object.isFrozen(set) && Object.isFrozen(set.all) && Object.isFrozen(set.all[0])).toBe(true);
  });

  it('lookup: by slug and by type → own names only', async () => {
    const { stored, directory } = setUp();
    stored.rows = [rowOf({}), rowOf({ id: 'p2', slug: 'second', status: 'disabled' })];
    const set = await directory.forOrganization('account-1');
    expect(set.find('second')).toMatchObject({ id: 'p2', status: 'disabled', type: 'openai' });
    expect(set.ofType('openai').map(({ id }) => id)).toEqual(['p1', 'p2']);
    for (const foreign of ['constructor', '__proto__', 'toString', 'gemini', '']) {
      expect(set.find(foreign)).toBeUndefined();
      expect(set.ofType(foreign)).toEqual([]);
    }
  });

  it('instance: address, dialect and prices → ready for a call', async () => {
    const { stored, directory } = setUp();
    stored.rows = [
      rowOf({ baseUrl: 'https://ai.example.com/v1/', pricing: { 'my-model': { input: 1, output: 2 } } }),
      rowOf({ id: 'p2', slug: 'bytedance', type: 'bytedance' }),
    ];
    const set = await directory.forOrganization('account-1');
    expect(set.find('openai')?.baseUrl).toEqual({ origin: 'https://ai.example.com', path: '/v1/' });
    expect(set.find('openai')?.customPrices.get('my-model')?.tokens?.input).toBe(1_000_000_000);
    expect(set.find('bytedance')?.baseUrl).toEqual({
      origin: 'https://ark.ap-southeast.bytepluses.com',
      path: '/api/v3/',
    });
    expect(set.find('bytedance')?.dialect.type).toBe('bytedance');
  });

  it.each(['account-1', EVERYTHING])('change of %s → loaded again', async (key) => {
    const { stored, changes, directory } = setUp();
    await directory.forOrganization('account-1');
    stored.rows = [rowOf({})];
    changes.announce('account-2');
    expect((await directory.forOrganization('account-1')).all).toEqual([]);
    changes.announce(key);
    expect((await directory.forOrganization('account-1')).all).toHaveLength(1);
    expect(stored.reads).toBe(2);
  });

  it('key: opened once → kept across a reload, replaced together with its blob', async () => {
    const { stored, directory, sealed, changes } = setUp();
    stored.rows = [await sealed(rowOf({}), 'sk-1')];
    const before = (await directory.forOrganization('account-1')).find('openai');
    const opened = await before?.credentialHeaders();
    expect(opened).toEqual(['authorization', 'Bearer sk-1']);
    changes.announce('account-1');
    const after = (await directory.forOrganization('account-1')).find('openai');
    expect(after).not.toBe(before);
    expect(after?.credentialHeaders()).toBe(opened);
    stored.rows = [await sealed(rowOf({}), 'sk-2')];
    changes.announce('account-1');
    const renewed = (await directory.forOrganization('account-1')).find('openai');
    expect(await renewed?.credentialHeaders()).toEqual(['authorization', 'Bearer sk-2']);
  });

  it.each<[string, Partial<ProviderRow>]>([
    ['another row', { id: 'p9' }],
    ['another account', { organizationId: 'account-2' }],
    ['another type', { type: 'groq' }],
    ['another address', { baseUrl: 'https://thief.example.com/' }],
  ])('key: its blob moved to %s → does not open', async (_where, moved) => {
    const { stored, directory, sealed, lines, changes } = setUp();
    const row = await sealed(rowOf({}), 'sk-1');
    stored.rows = [row];
    const own = (await directory.forOrganization('account-1')).find('openai');
    await own?.credentialHeaders();
    stored.rows = [{ ...row, ...moved }];
    changes.announce('account-1');
    const target = (await directory.forOrganization(moved.organizationId ?? 'account-1')).find('openai');
    await expect(target?.credentialHeaders()).rejects.toMatchObject({ code: 'provider_unavailable' });
    expect(lines).toEqual([expect.objectContaining({ reason: 'secret_undecryptable' })]);
  });

  it('row that cannot be read → left out with a log line; the others stay', async () => {
    const { stored, directory, lines } = setUp();
    stored.rows = [rowOf({ id: 'bad', slug: 'bad', pricing: { m: { input: -1, output: 1 } } }), rowOf({})];
    const set = await directory.forOrganization('account-1');
    expect(set.all.map(({ id }) => id)).toEqual(['p1']);
    expect(lines).toEqual([expect.objectContaining({ message: 'provider_unreadable', providerId: 'bad' })]);
  });
});

describe('ProviderDirectory with gateways', () => {
  const ROUTED = rowOf({ providerGatewayId: 'g1' });
  const TOKEN = (token: string) => ['cf-aig-authorization', `Bearer ${token}`];

  it('no row names a gateway → none are read', async () => {
    const { stored, gateways, directory } = setUp();
    stored.rows = [rowOf({})];
    await directory.forOrganization('account-1');
    expect(gateways.reads).toBe(0);
  });

  it('routed rows → route and token of their gateway; a direct row → its own', async () => {
    const { stored, gateways, directory, sealed, gatewayWith } = setUp();
    gateways.rows = [await gatewayWith('t-1'), await gatewayWith('t-2', { id: 'g2', type: 'vercel', config: {} })];
    stored.rows = [
      ROUTED,
      rowOf({ id: 'p2', slug: 'v', providerGatewayId: 'g2', gatewayRoute: { modelPrefix: 'own/' } }),
      await sealed(rowOf({ id: 'p3', slug: 'direct' }), 'sk-1'),
    ];
    const set = await directory.forOrganization('account-1');
    const [cf, vercel, direct] = set.all;
    expect(cf).toMatchObject({
      gateway: { id: 'g1', type: 'cf_aig' },
      baseUrl: { origin: 'https://gateway.ai.cloudflare.com', path: '/v1/acc/main/openai/' },
    });
    expect(cf?.gateway).toEqual({ id: 'g1', type: 'cf_aig' });
    expect(vercel?.route).toMatchObject({ kind: 'vercel', modelPrefix: 'own/' });
    expect(direct).toMatchObject({ gateway: null, route: { kind: 'direct' } });
    expect(await cf?.credentialHeaders()).toEqual(TOKEN('t-1'));
    expect(await vercel?.credentialHeaders()).toEqual(['authorization', 'Bearer t-2']);
    expect(await direct?.credentialHeaders()).toEqual(['authorization', 'Bearer sk-1']);
    expect(gateways.reads).toBe(1);
  });

  it('change of a gateway → loaded again; the opened token stays until its blob changes', async () => {
    const { stored, gateways, changes, directory, gatewayWith } = setUp();
    stored.rows = [ROUTED];
    gateways.rows = [await gatewayWith('t-1')];
    const now = async () => (await directory.forOrganization('account-1')).find('openai')?.credentialHeaders();
    const opened = await now();
    gateways.rows = gateways.rows.map((row) => ({ ...row, name: 'Renamed', revision: 2 }));
    changes.announce('account-1', PROVIDER_GATEWAYS_TOPIC);
    const kept = (await directory.forOrganization('account-1')).find('openai')?.credentialHeaders();
    expect(kept).toBe(opened);
    gateways.rows = [await gatewayWith('t-2')];
    changes.announce('account-1', PROVIDER_GATEWAYS_TOPIC);
    expect(await now()).toEqual(TOKEN('t-2'));
    expect(gateways.reads).toBe(3);
  });

  it.each<[string, string, (row: ProviderGatewayRow) => ProviderGatewayRow[]]>([
    ['revoked', 'provider_gateway_revoked', (row) => [{ ...row, status: 'revoked' }]],
    ['gone', 'provider_gateway_missing', () => []],
    ['of a kind that does not serve the type', 'provider_gateway_missing', (row) => [{ ...row, type: 'vercel' }]],
    ['moved to another id', 'secret_undecryptable', (row) => [row]],
    ['turned to another place', 'secret_undecryptable', (row) => [{ ...row, config: THIEF }]],
    ['turned to another kind', 'secret_undecryptable', (row) => [{ ...row, type: 'vercel' }]],
    ['unreadable', 'secret_undecryptable', (row) => [{ ...row, secretBlob: 'x' }]],
  ])('gateway %s → that instance answers provider_unavailable, the others serve', async (what, reason, stored) => {
    const { stored: rows, gateways, directory, lines, sealed, gatewayWith } = setUp();
    const isMoved = what === 'moved to another id';
    const type = what === 'of a kind that does not serve the type' ? 'groq' : 'openai';
    rows.rows = [
      { ...ROUTED, type, providerGatewayId: isMoved ? 'g9' : 'g1' },
      await sealed(rowOf({ id: 'p2', slug: 'direct' }), 'sk-1'),
    ];
    const row = await gatewayWith('t-1');
    gateways.rows = stored(isMoved ? { ...row, id: 'g9' } : row);
    const set = await directory.forOrganization('account-1');
    await expect(set.find('openai')?.credentialHeaders()).rejects.toMatchObject({
      code: 'provider_unavailable',
      status: 502,
    });
    expect(await set.find('direct')?.credentialHeaders()).toEqual(['authorization', 'Bearer sk-1']);
    expect(lines).toEqual([
      expect.objectContaining({ message: 'provider_secret_unavailable', providerId: 'p1', reason }),
    ]);
  });

  it('gateway revoked while its token is open → no longer used at once', async () => {
    const { stored, gateways, changes, directory, gatewayWith } = setUp();
    stored.rows = [ROUTED];
    gateways.rows = [await gatewayWith('t-1')];
    await (await directory.forOrganization('account-1')).find('openai')?.credentialHeaders();
    gateways.rows = gateways.rows.map((row) => ({ ...row, status: 'revoked' }));
    changes.announce('account-1', PROVIDER_GATEWAYS_TOPIC);
    const instance = (await directory.forOrganization('account-1')).find('openai');
    await expect(instance?.credentialHeaders()).rejects.toMatchObject({ reason: 'provider_gateway_revoked' });
  });
});
