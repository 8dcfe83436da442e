import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreationKind } from '../../../src/idempotency/creation.js';
import { firstOrganizationId, newAccount, newMember } from '../../support/accounts/accounts.js';
import { newPerson } from '../../support/accounts/people.js';
import type { ApiAnswer, ApiClient } from '../../support/api-client.js';
import { rawDeviceConfig, rawServerConfig } from '../../support/apps/app-configs.js';
import { FakeClock } from '../../support/clock.js';
import {
  CREATED_TABLES,
  CREATION_KINDS,
  idempotencyPair,
  newCreation,
  randomToken,
  rowsNamed,
} from '../../support/idempotency/creations.js';
import { startWorld, type World } from '../../support/world.js';

const MINUTE_MS = 60_000;

const clock = new FakeClock();
let world: World;

beforeAll(async () => {
  world = await startWorld({ clock });
  await world.provider({ slug: 'openai' });
  await world.provider({ slug: 'openai-backup' });
});

afterAll(() => world.stop());

const rows = (kind: CreationKind, name: unknown) => rowsNamed(world, kind, String(name));
const outcome = ({ status, body }: ApiAnswer) => [status, body.error?.code];

describe.each(CREATION_KINDS)('repeated creation of kind %s', (kind) => {
  it('same headers and body: the same answer and status; one row, one audit entry', async () => {
    const { path, body } = await newCreation(world, kind);
    const headers = idempotencyPair();
    const first = await world.api.post(path, body, { headers });
    expect(first.status).toBe(201);
    const again = await world.api.post(path, Object.fromEntries(Object.entries(body).reverse()), { headers });
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(await rows(kind, body.name)).toBe(1);
    const entries = await world.dataSource.query('SELECT action FROM audit_events WHERE details->>$1 = $2', [
      kind === 'provider' ? 'slug' : 'name',
      kind === 'provider' ? body.slug : body.name,
    ]);
    expect(entries).toEqual([{ action: `${kind}.created` }]);
  });

  it('another proof: 403 forbidden, whatever the body is', async () => {
    const { path, body } = await newCreation(world, kind);
    const headers = idempotencyPair();
    await world.api.post(path, body, { headers });
    const stranger = { headers: { ...headers, 'x-idempotency-proof': randomToken() } };
    expect(outcome(await world.api.post(path, body, stranger))).toEqual([403, 'forbidden']);
    expect(outcome(await world.api.post(path, { ...body, name: 'Other' }, stranger))).toEqual([403, 'forbidden']);
    expect(await rows(kind, body.name)).toBe(1);
  });

  it('another body, valid or not: 409 conflict, and nothing is created', async () => {
    const { path, body } = await newCreation(world, kind);
    const headers = idempotencyPair();
    await world.api.post(path, body, { headers });
    const name = `Changed ${randomToken()}`.slice(0, 40);
    expect(outcome(await world.api.post(path, { ...body, name }, { headers }))).toEqual([409, 'conflict']);
    expect(outcome(await world.api.post(path, {}, { headers }))).toEqual([409, 'conflict']);
    expect(await rows(kind, name)).toBe(0);
  });

  it('only one header, or a malformed one: 400 naming the header, and nothing is created', async () => {
    const { path, body } = await newCreation(world, kind);
    for (const [headers, named] of [
      [{ 'idempotency-key': randomToken() }, 'X-Idempotency-Proof'],
      [{ 'x-idempotency-proof': randomToken() }, 'Idempotency-Key'],
      [{ ...idempotencyPair(), 'idempotency-key': 'short' }, 'Idempotency-Key'],
    ] as const) {
      const answer = await world.api.post(path, body, { headers });
      expect(outcome(answer)).toEqual([400, 'invalid_request']);
      expect(answer.body.error.message).toContain(`${named}: `);
    }
    expect(await rows(kind, body.name)).toBe(0);
  });

  it('the transaction fails after every other statement: 500 and no row; the same headers succeed afterwards', async () => {
    const { path, body } = await newCreation(world, kind);
    const headers = idempotencyPair();
    await refuseReceipts(true);
    expect((await sent(path, body, headers)).status).toBe(500);
    await refuseReceipts(false);
    expect(await rows(kind, body.name)).toBe(0);
    expect((await world.api.post(path, body, { headers })).status).toBe(201);
    expect(await rows(kind, body.name)).toBe(1);
  });

  it('a refused attempt: the same headers work with the corrected body', async () => {
    const { path, body } = await newCreation(world, kind);
    const headers = idempotencyPair();
    expect(outcome(await world.api.post(path, { ...body, name: '' }, { headers }))).toEqual([400, 'invalid_request']);
    expect((await world.api.post(path, body, { headers })).status).toBe(201);
  });
});

describe('the owner of an idempotency key', () => {
  it('the same pair of another account, and of another member: separate creations', async () => {
    const headers = idempotencyPair();
    const body = { name: `Own ${randomToken()}`.slice(0, 40), config: rawDeviceConfig() };
    const organizationId = await firstOrganizationId(world.dataSource);
    const colleague = world.as((await newMember(world.dataSource, organizationId, { role: 'admin' })).key);
    const person = await newPerson(world, { organizationId });
    const ids = new Set<string>();
    for (const client of [world.api, colleague, person.client]) {
      const answer = await client.post('/v1/admin/apps', body, { headers });
      expect(answer.status).toBe(201);
      ids.add(answer.body.app.id);
    }
    expect(ids.size).toBe(3);
    const stranger = world.as((await newAccount(world.dataSource)).key);
    const gateway = { type: 'vercel', name: 'Edge', token: 'token-of-the-gateway-1234' };
    const [mine, theirs] = [await made(world.api, gateway, headers), await made(stranger, gateway, headers)];
    expect(theirs).not.toBe(mine);
  });

  it('another kind: a separate creation; the path of another application: 409', async () => {
    const headers = idempotencyPair();
    const [one, other] = [await world.app(), await world.app()];
    const gateway = { type: 'vercel', name: 'Edge', token: 'token-of-the-gateway-1234' };
    await made(world.api, gateway, headers);
    const key = await world.api.post(`/v1/admin/apps/${one.id}/keys`, { name: 'K' }, { headers });
    expect(key.status).toBe(201);
    const elsewhere = await world.api.post(`/v1/admin/apps/${other.id}/keys`, { name: 'K' }, { headers });
    expect(outcome(elsewhere)).toEqual([409, 'conflict']);
  });

  it('another credential of the same identity: the same answer', async () => {
    const headers = idempotencyPair();
    const organizationId = await firstOrganizationId(world.dataSource);
    const { identityId, key } = await newMember(world.dataSource, organizationId, {});
    const { key: second, identityId: lender } = await newMember(world.dataSource, organizationId, {});
    await world.dataSource.query('UPDATE management_keys SET identity_id = $1 WHERE identity_id = $2', [
      identityId,
      lender,
    ]);
    const body = { name: 'Twice', config: rawServerConfig() };
    const first = await world.as(key).post('/v1/admin/apps', body, { headers });
    expect((await world.as(second).post('/v1/admin/apps', body, { headers })).text).toBe(first.text);
  });

  it('a caller without permission to create: refused before anything is returned', async () => {
    const { path, body } = await newCreation(world, 'app');
    const headers = idempotencyPair();
    const organizationId = await firstOrganizationId(world.dataSource);
    const { identityId, key } = await newMember(world.dataSource, organizationId, {});
    expect((await world.as(key).post(path, body, { headers })).status).toBe(201);
    await world.dataSource.query("UPDATE memberships SET role = 'member' WHERE identity_id = $1", [identityId]);
    expect(outcome(await world.as(key).post(path, body, { headers }))).toEqual([403, 'forbidden']);
  });
});

describe('answers that hold a key', () => {
  it.each(['app', 'app_key'] as const)('%s: the key stands nowhere in the database', async (kind) => {
    const { path, body } = await newCreation(world, kind);
    const answer = await world.api.post(path, body, { headers: idempotencyPair() });
    const key = kind === 'app' ? answer.body.api_key.key : answer.body.key;
    expect(key).toMatch(/^gw_/);
    expect(await tablesHolding(key)).toEqual([]);
    expect(await tablesHolding(String(body.name))).toContain(CREATED_TABLES[kind]);
  });

  it.each(['app', 'app_key'] as const)(
    '%s: returned for 15 minutes, then only named, and never created again',
    async (kind) => {
      const { path, body } = await newCreation(world, kind);
      const headers = idempotencyPair();
      const first = await world.api.post(path, body, { headers });
      clock.advance(15 * MINUTE_MS - 1);
      expect((await world.api.post(path, body, { headers })).text).toBe(first.text);
      clock.advance(1);
      const late = await world.api.post(path, body, { headers });
      expect(outcome(late)).toEqual([410, 'resource_receipt_expired']);
      expect(late.body.error.data).toEqual(idsOf(kind, path, first));
      expect(await rows(kind, body.name)).toBe(1);
      expect(outcome(await world.api.post(path, { ...body, name: 'Other' }, { headers }))).toEqual([409, 'conflict']);
    },
  );

  it.each(['app', 'app_key'] as const)('%s: the key is revoked → 410 before and after the window', async (kind) => {
    const { path, body } = await newCreation(world, kind);
    const headers = idempotencyPair();
    const first = await world.api.post(path, body, { headers });
    const ids = idsOf(kind, path, first);
    await world.api.post(`/v1/admin/apps/${ids.appId}/keys/${ids.keyId}/revoke`);
    for (const waitMs of [0, 15 * MINUTE_MS]) {
      clock.advance(waitMs);
      const answer = await world.api.post(path, body, { headers });
      expect(outcome(answer)).toEqual([410, 'resource_key_unavailable']);
      expect(answer.body.error.data).toEqual(ids);
    }
  });

  it('the application is deleted: its creation answers 410, and creates no other', async () => {
    const { path, body } = await newCreation(world, 'app');
    const headers = idempotencyPair();
    const { body: first } = await world.api.post(path, body, { headers });
    await world.api.delete(`/v1/admin/apps/${first.app.id}?confirm=${first.app.id}`);
    expect(outcome(await world.api.post(path, body, { headers }))).toEqual([410, 'resource_key_unavailable']);
    expect(await rows('app', body.name)).toBe(0);
  });

  it('no key was created: the original answer for the lifetime of the receipt, even if the resource has changed since', async () => {
    const { path, body } = await newCreation(world, 'provider');
    const headers = idempotencyPair();
    const first = await world.api.post(path, body, { headers });
    await world.api.put(`/v1/admin/providers/${first.body.provider.id}`, { name: 'Renamed' });
    clock.advance(60 * MINUTE_MS);
    expect((await world.api.post(path, body, { headers })).text).toBe(first.text);
    await world.api.delete(`/v1/admin/providers/${first.body.provider.id}`);
    expect((await world.api.post(path, body, { headers })).text).toBe(first.text);
  });
});

/** A client without the check against the document: our failures are not documented. */
function sent(path: string, body: object, headers: Record<string, string>): Promise<Response> {
  return fetch(world.baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.managementKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

async function made(client: ApiClient, body: object, headers: Record<string, string>): Promise<string> {
  const answer = await client.post('/v1/admin/provider-gateways', body, { headers });
  expect(answer.status).toBe(201);
  return answer.body.gateway.id;
}

/** A statement that fails in Postgres, as late in the transaction as one can. */
async function refuseReceipts(on: boolean): Promise<void> {
  if (!on) return void (await world.dataSource.query('DROP TRIGGER refuse ON creation_receipts'));
  await world.dataSource.query(
    `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`,
  );
  await world.dataSource.query(
    'CREATE TRIGGER refuse AFTER INSERT ON creation_receipts FOR EACH ROW EXECUTE FUNCTION refuse()',
  );
}

function idsOf(kind: 'app' | 'app_key', path: string, { body }: ApiAnswer): { appId: string; keyId: string } {
  if (kind === 'app') return { appId: body.app.id, keyId: body.api_key.id };
  return { appId: path.split('/')[4] ?? '', keyId: body.id };
}

/** Tables with a row that contains the text in any column, sealed columns read as text. */
async function tablesHolding(text: string): Promise<string[]> {
  const tables: { name: string }[] = await world.dataSource.query(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const sql = `SELECT FROM "${name}" AS one WHERE strpos(one::text, $1) > 0 LIMIT 1`;
    if ((await world.dataSource.query(sql, [text])).length > 0) found.push(name);
  }
  return found;
}
