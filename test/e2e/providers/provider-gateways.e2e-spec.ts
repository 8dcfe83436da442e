import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConfigChanges } from '../../../src/platform/database/config-changes.js';
import { Vault } from '../../../src/platform/vault/vault.js';
import {
  PROVIDER_GATEWAYS_TOPIC,
  ProviderGatewayListing,
} from '../../../src/providers/provider-gateways/provider-gateway-listing.js';
import { gatewaySecretContext } from '../../../src/providers/sealed-credential.rules.js';
import { firstOrganizationId, newAccount } from '../../support/accounts/accounts.js';
import type { ApiAnswer, ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { listeningInstances } from '../../support/platform/listening-instances.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/provider-gateways';
const TOKEN = 'the-very-secret-gateway-token-7777';
const OTHER_TOKEN = 'another-very-secret-token-0000';
const CF_AIG = { type: 'cf_aig', name: 'Edge', token: TOKEN, accountId: 'account-1', gatewayId: 'main' };
const VERCEL = { type: 'vercel', name: 'Vercel', token: TOKEN };
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let world: World;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld();
  organizationId = await firstOrganizationId(world.dataSource);
});

beforeEach(() => world.upstream.forget());

afterEach(async () => {
  for (const token of [TOKEN, OTHER_TOKEN]) expect(JSON.stringify(world.logs)).not.toContain(token);
  await world.dataSource.query('DELETE FROM provider_gateways');
});

afterAll(() => world.stop());

/** Sends a write and checks that its answer contains no token. */
async function send(method: string, path: string, body: unknown, api: ApiClient = world.api): Promise<ApiAnswer> {
  const answer = await api.send(method, `${PATH}${path}`, body, {});
  for (const token of [TOKEN, OTHER_TOKEN]) expect(answer.text).not.toContain(token);
  return answer;
}

const rename = (id: string, body: object, api?: ApiClient) => send('PATCH', `/${id}`, body, api);
const rotate = (id: string, body: object, api?: ApiClient) => send('POST', `/${id}/rotate`, body, api);

async function created(body: object = CF_AIG) {
  const answer = await send('POST', '', body);
  expect(answer.status).toBe(201);
  return answer.body.gateway;
}

async function listed() {
  return (await world.api.get(PATH)).body.gateways;
}

/** The stored token, opened by the vault. */
async function storedToken(id: string): Promise<string> {
  const row = await world.gateway.app.get(ProviderGatewayListing).findActive(organizationId, id);
  if (row === undefined) throw new Error('no such gateway');
  return (await world.gateway.app.get(Vault).open(row.secretBlob, gatewaySecretContext(row))).reveal();
}

describe('POST provider-gateways', () => {
  it('cf_aig → 201 with the documented fields, counts 0, only the end of the token, and no call of the gateway', async () => {
    const gateway = await created({ ...CF_AIG, name: '  Edge  ', accountId: ' account-1 ' });
    expect(gateway).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
      type: 'cf_aig',
      name: 'Edge',
      config: { accountId: 'account-1', gatewayId: 'main' },
      secretHint: '7777',
      providerCount: 0,
      referencedCount: 0,
      revision: 1,
      status: 'active',
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: gateway.createdAt,
      createdBy: expect.any(String),
    });
    expect(world.upstream.requests).toHaveLength(0);
  });

  it('vercel → 201 without an address; short token → only two of its characters', async () => {
    const gateway = await created({ ...VERCEL, token: '0123456789abcde' });
    expect(gateway).toMatchObject({ type: 'vercel', config: {}, secretHint: 'de' });
    expect(await storedToken(gateway.id)).toBe('0123456789abcde');
  });

  it('a longer hint stored by an earlier version → shown only as long as the token allows', async () => {
    const { id } = await created({ ...VERCEL, token: '0123456789abcde' });
    await world.dataSource.query("UPDATE provider_gateways SET secret_hint = 'bcde' WHERE id = $1", [id]);
    expect(await listed()).toMatchObject([{ id, secretHint: 'de' }]);
  });

  it('the same request twice → two gateways, listed oldest first as they were returned', async () => {
    const [first, second] = [await created(), await created()];
    expect(first.id).not.toBe(second.id);
    expect(await listed()).toEqual([first, second]);
  });

  it.each<[string, object, string]>([
    ['missing type', { ...VERCEL, type: undefined }, 'type: must be one of "cf_aig", "vercel"'],
    ['unknown type', { ...VERCEL, type: 'portkey' }, 'type: must be one of "cf_aig", "vercel"'],
    ['place on vercel', { ...VERCEL, accountId: 'a' }, 'accountId: is not a known member'],
    ['no account', { ...CF_AIG, accountId: undefined }, 'accountId: is required'],
    ['no gateway', { ...CF_AIG, gatewayId: undefined }, 'gatewayId: is required'],
    ['account of 101 characters', { ...CF_AIG, accountId: 'a'.repeat(101) }, 'accountId: must be'],
    ['blank account', { ...CF_AIG, accountId: '  ' }, 'accountId: must be'],
    ['dot segment', { ...CF_AIG, accountId: '..' }, 'accountId: must be'],
    ['dot', { ...CF_AIG, gatewayId: '.' }, 'gatewayId: must be'],
    ['slash', { ...CF_AIG, gatewayId: 'a/b' }, 'gatewayId: must be'],
    ['escaped slash', { ...CF_AIG, gatewayId: 'a%2Fb' }, 'gatewayId: must be'],
    ['backslash', { ...CF_AIG, gatewayId: 'a\\b' }, 'gatewayId: must be'],
    ['query', { ...CF_AIG, gatewayId: 'a?b' }, 'gatewayId: must be'],
    ['number as gateway', { ...CF_AIG, gatewayId: 7 }, 'gatewayId: must be'],
    ['no name', { ...VERCEL, name: undefined }, 'name: is required'],
    ['blank name', { ...VERCEL, name: '  ' }, 'name: must be'],
    ['name of 101 characters', { ...VERCEL, name: 'n'.repeat(101) }, 'name: must be'],
    ['no token', { ...VERCEL, token: undefined }, 'token: is required'],
    ['empty token', { ...VERCEL, token: '' }, 'token: must be'],
    ['token of 7 characters', { ...VERCEL, token: 't'.repeat(7) }, 'token: must be text of 8 to 4096 characters'],
    ['token of 4097 characters', { ...VERCEL, token: 't'.repeat(4097) }, 'token: must be'],
    ['token with a line end', { ...VERCEL, token: `${TOKEN}\n` }, 'token: must be'],
    ['token beyond ASCII', { ...VERCEL, token: `${TOKEN}é` }, 'token: must be'],
    ['unknown member', { ...VERCEL, status: 'active' }, 'status: is not a known member'],
  ])('%s → 400 naming the path, nothing stored', async (_what, body, message) => {
    const answer = await send('POST', '', body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message.startsWith(message)).toBe(true);
    expect(await listed()).toEqual([]);
  });

  it('maximum lengths everywhere → accepted', async () => {
    const long = 'x'.repeat(100);
    const gateway = await created({ ...CF_AIG, name: long, accountId: long, gatewayId: long, token: 't'.repeat(4096) });
    expect(gateway).toMatchObject({ name: long, config: { accountId: long, gatewayId: long } });
  });
});

describe('PATCH provider-gateways/{id}', () => {
  it('name → changed, everything else kept, revision incremented, updatedAt later', async () => {
    const before = await created();
    const { gateway } = (await rename(before.id, { name: ' Renamed ' })).body;
    expect(gateway).toEqual({ ...before, name: 'Renamed', revision: 2, updatedAt: expect.stringMatching(INSTANT) });
    expect(gateway.updatedAt > before.updatedAt).toBe(true);
    expect(await listed()).toEqual([gateway]);
    expect(await storedToken(before.id)).toBe(TOKEN);
  });

  it.each<[string, object, string]>([
    ['nothing', {}, 'name: is required'],
    ['only a revision', { revision: 1 }, 'name: is required'],
    ['null name', { name: null }, 'name: '],
    ['token', { name: 'n', token: 'x' }, 'token: is not a known member'],
    ['place', { name: 'n', accountId: 'x' }, 'accountId: is not a known member'],
    ['revision 0', { name: 'n', revision: 0 }, 'revision: '],
    ['revision as text', { name: 'n', revision: '1' }, 'revision: '],
  ])('%s → 400 naming the path', async (_what, body, message) => {
    const { id } = await created();
    const answer = await rename(id, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message.startsWith(message)).toBe(true);
    expect((await listed())[0].revision).toBe(1);
  });
});

describe('POST provider-gateways/{id}/rotate', () => {
  it('token → new hint, sealed for the same row, everything else kept, and no call of the gateway', async () => {
    const before = await created();
    const answer = await rotate(before.id, { token: OTHER_TOKEN });
    expect([answer.status, answer.body.gateway]).toEqual([
      200,
      { ...before, secretHint: '0000', revision: 2, updatedAt: expect.stringMatching(INSTANT) },
    ]);
    expect(await storedToken(before.id)).toBe(OTHER_TOKEN);
    expect(world.upstream.requests).toHaveLength(0);
  });

  it.each<[string, object, string]>([
    ['nothing', {}, 'token: is required'],
    ['empty token', { token: '' }, 'token: '],
    ['token with a blank at its end', { token: `${OTHER_TOKEN} ` }, 'token: '],
    ['name', { token: OTHER_TOKEN, name: 'n' }, 'name: is not a known member'],
    ['revision 0', { token: OTHER_TOKEN, revision: 0 }, 'revision: '],
  ])('%s → 400 naming the path, the old token stays', async (_what, body, message) => {
    const { id } = await created();
    const answer = await rotate(id, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message.startsWith(message)).toBe(true);
    expect(await storedToken(id)).toBe(TOKEN);
  });
});

describe('revision', () => {
  it('the stored one → 200; an older or future one → 409 conflict, nothing changes', async () => {
    const { id } = await created();
    expect((await rename(id, { name: 'Two', revision: 1 })).body.gateway.revision).toBe(2);
    for (const revision of [1, 3]) {
      for (const answer of [
        await rename(id, { name: 'Three', revision }),
        await rotate(id, { token: OTHER_TOKEN, revision }),
      ]) {
        expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict']);
      }
    }
    expect((await rotate(id, { token: OTHER_TOKEN, revision: 2 })).body.gateway).toMatchObject({
      name: 'Two',
      revision: 3,
    });
  });

  it('race: rename against rotation with the same revision → one 200, one 409, never half of each', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await created();
      const [renamed, rotated] = await Promise.all([
        rename(id, { name: 'Renamed', revision: 1 }),
        rotate(id, { token: OTHER_TOKEN, revision: 1 }),
      ]);
      expect([renamed.status, rotated.status].sort()).toEqual([200, 409]);
      const stored = (await listed()).find((one: { id: string }) => one.id === id);
      expect(stored).toMatchObject(
        renamed.status === 200
          ? { name: 'Renamed', secretHint: '7777', revision: 2 }
          : { name: 'Edge', secretHint: '0000', revision: 2 },
      );
    }
  });

  it('race: renames and rotations without a revision → all 200, the last of each is kept, all are counted', async () => {
    const { id } = await created();
    const answers = await Promise.all(
      [0, 1, 2, 3, 4].flatMap(() => [rename(id, { name: 'Renamed' }), rotate(id, { token: OTHER_TOKEN })]),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await listed()).toEqual([expect.objectContaining({ name: 'Renamed', secretHint: '0000', revision: 11 })]);
    expect(await storedToken(id)).toBe(OTHER_TOKEN);
  });
});

describe('another account', () => {
  it('its ids → the same 404 as unknown ids, and it sees nothing', async () => {
    const { id } = await created();
    const other = world.as((await newAccount(world.dataSource)).key);
    const asked = async (of: string) => [
      await rename(of, { name: 'Mine' }, other),
      await rotate(of, { token: OTHER_TOKEN, revision: 9 }, other),
      await send('DELETE', `/${of}`, undefined, other),
    ];
    const [foreign, missing] = [await asked(id), await asked('nobody-has-this')];
    expect(foreign.map(({ status, body }) => [status, body])).toEqual(
      missing.map(({ status, body }) => [status, body]),
    );
    for (const { status, body } of foreign) expect([status, body.error.code]).toEqual([404, 'not_found']);
    expect((await other.get(PATH)).body).toEqual({ gateways: [] });
    expect(await listed()).toEqual([expect.objectContaining({ id, name: 'Edge', revision: 1 })]);
  });
});

describe('stored token', () => {
  const table = () => world.dataSource.query<{ secret_blob: string }[]>('SELECT * FROM provider_gateways');

  it('row → sealed: neither the token nor a plain encoding of it is in the table', async () => {
    const { id } = await created();
    await rotate(id, { token: OTHER_TOKEN });
    await created();
    const text = JSON.stringify(await table());
    expect(text).toContain('local1.1.');
    for (const token of [TOKEN, OTHER_TOKEN]) {
      for (const encoding of ['utf8', 'base64', 'base64url', 'hex'] as const) {
        expect(text).not.toContain(Buffer.from(token).toString(encoding).replace(/=+$/, ''));
      }
    }
  });

  it('blob moved to another row → does not open; same token twice → different blobs', async () => {
    const [first, second] = [await created(), await created()];
    expect(new Set((await table()).map(({ secret_blob }) => secret_blob)).size).toBe(2);
    await world.dataSource.query(
      `UPDATE provider_gateways SET secret_blob = (SELECT secret_blob FROM provider_gateways WHERE id = $1)
        WHERE id = $2`,
      [first.id, second.id],
    );
    expect(await storedToken(first.id)).toBe(TOKEN);
    await expect(storedToken(second.id)).rejects.toMatchObject({ code: 'provider_unavailable' });
  });
});

describe('notification', () => {
  it('every write → effective on this instance before its answer, on others within a second; a refused one → no notification', async () => {
    await eventually(async () => (await listeningInstances(world.dataSource)) === 1, { withinMs: 20_000 });
    const heard: string[] = [];
    const end = world.gateway.app.get(ConfigChanges).subscribe(PROVIDER_GATEWAYS_TOPIC, (key) => heard.push(key));
    /** The write is notified twice: to its own process at once, and to every instance through the database. */
    const expectTold = async (write: () => Promise<ApiAnswer>) => {
      const { status } = await write();
      expect([status < 300, heard[0]]).toEqual([true, organizationId]);
      await eventually(() => heard.length === 2, { withinMs: 10_000 });
      expect(heard.splice(0)).toEqual([organizationId, organizationId]);
    };
    await expectTold(() => send('POST', '', CF_AIG));
    const [{ id }] = await listed();
    await expectTold(() => rename(id, { name: 'Renamed' }));
    await expectTold(() => rotate(id, { token: OTHER_TOKEN }));
    expect((await rename(id, { name: 'Again', revision: 1 })).status).toBe(409);
    expect((await send('DELETE', '/nobody-has-this', undefined)).status).toBe(404);
    await expectTold(() => send('DELETE', `/${id}`, undefined));
    end();
  });
});
