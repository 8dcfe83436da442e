import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Retention } from '../../../src/retention/retention.service.js';
import { newPerson, organizationCookie } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { Terminal } from '../../support/cli/terminal.js';
import { FakeClock } from '../../support/clock.js';
import { addApp, type ChangeClient, newChangeClient, SERVER_APP } from '../../support/mcp/change-client.js';
import { startWorld, type World } from '../../support/world.js';

const MINUTE_MS = 60_000;
const NO_OPERATION = `op:${'0'.repeat(64)}`;

const clock = new FakeClock();
let world: World;
let client: ChangeClient;

beforeAll(async () => {
  world = await startWorld({ clock, env: { REDIS_URL: '' } });
});
beforeEach(async () => {
  clock.advance(MINUTE_MS);
  client = await newChangeClient(world);
});
afterAll(() => world.stop());

const pathOf = (id: string) => `/v1/admin/operations/${encodeURIComponent(id)}`;
const reveal = (id: string, by = client.owner.client) => by.post(`${pathOf(id)}/reveal`, {});

describe('GET /v1/admin/operations/{id}', () => {
  it('every member, key and session → its status, without the key', async () => {
    const { id, next: _next, ...standing } = await addApp(client);
    const member = await newPerson(world, { organizationId: client.organizationId, role: 'member' });
    for (const by of [client.owner.client, member.client, world.as(client.key)]) {
      expect((await by.get(pathOf(id))).body).toEqual({ id, ...standing });
    }
    expect(standing.result.api_key).not.toHaveProperty('key');
  });

  it('another account’s, none, or a login → the same 404', async () => {
    const { id } = await addApp(client);
    const stranger = await newChangeClient(world);
    const login = new Terminal(world);
    await login.open();
    const answers = [];
    for (const other of [id, NO_OPERATION, 'x', login.id])
      answers.push(await world.as(stranger.key).get(pathOf(other)));
    expect(answers.map(codeOf)).toEqual(answers.map(() => [404, 'operation_not_found']));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('an operation of a terminal → shown, and its key is not available in the console', async () => {
    const terminal = new Terminal(world);
    await terminal.operate(client.key, 'app.add', SERVER_APP);
    const { body } = await client.owner.client.get(pathOf(terminal.id));
    expect(body).toMatchObject({ kind: 'app.add', state: 'completed' });
    expect([body.reveal_url, body.result.api_key.key]).toEqual([undefined, undefined]);
    expect(codeOf(await reveal(terminal.id))).toEqual([400, 'invalid_request']);
    expect((await terminal.poll()).body.result.api_key.key).toMatch(/^gw_/);
  });
});

describe('POST /v1/admin/operations/{id}/reveal', () => {
  it('owner or admin → a working key, once; recorded; no longer stored', async () => {
    const { id, result } = await addApp(client);
    const admin = await newPerson(world, { organizationId: client.organizationId, role: 'admin' });
    const { status, body, text } = await reveal(id, admin.client);
    expect([status, body]).toEqual([
      200,
      {
        id,
        kind: 'app.add',
        result: { ...result, api_key: { ...result.api_key, key: expect.stringMatching(/^gw_/) } },
      },
    ]);
    const listed = await world.as(body.result.api_key.key).get(`/v1/apps/${result.app.id}/me`);
    expect(listed.status).not.toBe(401);
    expect(codeOf(await reveal(id, admin.client))).toEqual([409, 'already_revealed']);
    expect(codeOf(await reveal(id))).toEqual([409, 'already_revealed']);
    expect((await client.owner.client.get(pathOf(id))).body.reveal_url).toBeUndefined();
    const records = await world.dataSource.query(
      `SELECT e.actor_id, e.target_id, e.app_id, e::text AS entry,
              (SELECT sealed_result FROM cli_operations WHERE id = $2) AS sealed
         FROM audit_events e WHERE e.organization_id = $1 AND e.action = 'app_key.revealed'`,
      [client.organizationId, id],
    );
    expect(records).toEqual([
      {
        ...{ actor_id: admin.identityId, target_id: result.api_key.id, app_id: result.app.id },
        ...{ entry: expect.any(String), sealed: null },
      },
    ]);
    const { key } = body.result.api_key;
    expect(text).toContain(key);
    expect(JSON.stringify([records, world.logs])).not.toContain(key);
  });

  it('a member, a key, no origin, a foreign origin, another account → refused, and the key stays available', async () => {
    const { id } = await addApp(client);
    const member = await newPerson(world, { organizationId: client.organizationId, role: 'member' });
    const stranger = await newChangeClient(world);
    expect(codeOf(await reveal(id, member.client))).toEqual([403, 'forbidden']);
    expect(codeOf(await reveal(id, world.as(client.key)))).toEqual([403, 'forbidden']);
    const byKey = world.with({ authorization: `Bearer ${client.key}`, origin: world.consoleOrigin });
    expect(codeOf(await reveal(id, byKey))).toEqual([403, 'session_required']);
    const cookie = client.owner.cookie;
    for (const headers of [{ cookie } as Record<string, string>, { cookie, origin: 'https://evil.example' }]) {
      expect(codeOf(await reveal(id, world.with({ ...headers, 'x-console-request': '1' })))).toEqual([
        403,
        'forbidden',
      ]);
    }
    expect(codeOf(await reveal(id, world.with({ cookie, origin: world.consoleOrigin })))).toEqual([
      401,
      'auth_required',
    ]);
    const foreign = await reveal(id, stranger.owner.client);
    expect(codeOf(foreign)).toEqual([404, 'operation_not_found']);
    expect(foreign.text).toBe((await reveal(NO_OPERATION, stranger.owner.client)).text);
    expect((await reveal(id)).status).toBe(200);
  });

  it('a person with two accounts → the current one counts', async () => {
    const { id } = await addApp(client);
    const other = await newChangeClient(world);
    await world.dataSource.query("INSERT INTO memberships VALUES ($1, $2, 'owner', now())", [
      ...[other.organizationId, client.owner.identityId],
    ]);
    const inAccount = (organizationId: string) =>
      world.with({
        cookie: `${client.owner.cookie}; ${organizationCookie(world, organizationId)}`,
        'x-console-request': '1',
        origin: world.consoleOrigin,
      });
    expect((await reveal(id, inAccount(other.organizationId))).status).toBe(404);
    expect((await reveal(id, inAccount(client.organizationId))).status).toBe(200);
  });

  it.each([
    [-1, [200, undefined]],
    [0, [410, 'operation_expired']],
  ])('%i ms around 15 minutes after the change → %j', async (aroundMs, outcome) => {
    const { id } = await addApp(client);
    clock.advance(15 * MINUTE_MS + aroundMs);
    expect(codeOf(await reveal(id))).toEqual(outcome);
    expect((await client.owner.client.get(pathOf(id))).body.reveal_url).toBeUndefined();
  });

  it('not run yet → 409; expired → 410; no key issued → 400', async () => {
    const { body: reserved } = await client.mcp.call('add_app', { config: SERVER_APP });
    expect(codeOf(await reveal(reserved.id))).toEqual([409, 'operation_pending']);
    clock.advance(15 * MINUTE_MS);
    expect(codeOf(await reveal(reserved.id))).toEqual([410, 'operation_expired']);
    const terminal = new Terminal(world);
    const payload = { type: 'openai', name: 'OpenAI', secret: 'sk-a-key-of-a-provider' };
    await terminal.operate(client.key, 'provider.add', payload);
    expect(codeOf(await reveal(terminal.id))).toEqual([400, 'invalid_request']);
  });

  it('the nightly job → clears a key that nobody revealed; the answers stay the same', async () => {
    const { id } = await addApp(client);
    const revealed = await addApp(client, 'Revealed');
    await reveal(revealed.id);
    clock.advance(15 * MINUTE_MS);
    const stored = () => world.dataSource.query('SELECT sealed_result FROM cli_operations WHERE id = $1', [id]);
    expect(await stored()).toEqual([{ sealed_result: expect.any(String) }]);
    await world.dataSource.query("UPDATE cli_operations SET sealed_until = now() - interval '1 day' WHERE id = $1", [
      id,
    ]);
    await world.gateway.app.get(Retention, { strict: false }).run(new AbortController().signal);
    expect(await stored()).toEqual([{ sealed_result: null }]);
    expect(codeOf(await reveal(id))).toEqual([410, 'operation_expired']);
    expect(codeOf(await reveal(revealed.id))).toEqual([409, 'already_revealed']);
  });
});
