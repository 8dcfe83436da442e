import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newMember } from '../../support/accounts/accounts.js';
import { newOrganization } from '../../support/accounts/people.js';
import { rawDeviceConfig } from '../../support/apps/app-configs.js';
import { FakeClock } from '../../support/clock.js';
import { addApp, type ChangeClient, callTwice, newChangeClient, SERVER_APP } from '../../support/mcp/change-client.js';
import { McpTestClient, REVISIONS } from '../../support/mcp/mcp-client.js';
import { startWorld, type World } from '../../support/world.js';

const MINUTE_MS = 60_000;
const KEY = /gw_[A-Za-z0-9]{20,}/;
const HOSTILE = '</script><img src=x onerror=alert(1)>{{7*7}}';

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

const appsOf = async ({ key }: ChangeClient) => (await world.as(key).get('/v1/admin/apps')).body.apps;
const refusal = ({ isError, body }: Awaited<ReturnType<McpTestClient['call']>>) => [isError, body.status, body.error];

describe.each(REVISIONS)('two calls with a client of revision %s', (revision) => {
  it('add_app → reserved, then created with a key to reveal; again → the same answer', async () => {
    const own = await newChangeClient(world, revision);
    const first = await own.mcp.call('add_app', { config: SERVER_APP });
    expect(first.body).toEqual({
      operation: expect.stringMatching(/^op:[0-9a-f]{64}$/),
      id: first.body.operation,
      expiresAt: new Date(clock.nowMs() + 15 * MINUTE_MS).toISOString(),
      next: expect.stringContaining('Call add_app again'),
    });
    expect(await appsOf(own)).toEqual([]);
    const args = { config: SERVER_APP, operation: first.body.operation };
    const second = await own.mcp.call('add_app', args);
    expect(second).toMatchObject({
      isError: false,
      body: {
        ...{ id: first.body.id, kind: 'app.add', state: 'completed' },
        result: {
          app: { name: SERVER_APP.name, status: 'active', revision: 1 },
          api_key: { name: expect.any(String), key_prefix: expect.stringMatching(/^gw_.{9}$/) },
        },
        reveal_url: expect.stringContaining(`/reveal/${encodeURIComponent(first.body.id)}`),
        next: expect.stringContaining('reveal_url'),
      },
    });
    expect(await own.mcp.call('add_app', args)).toEqual(second);
    expect(await appsOf(own)).toHaveLength(1);
    expect(`${JSON.stringify([first, second, world.logs])}`).not.toMatch(KEY);
    const { next: _next, ...standing } = second.body;
    expect((await own.mcp.call('get_operation', { id: first.body.id })).body).toEqual(standing);
  });
});

it('add_app_key → another key; the same name again → another operation and another key', async () => {
  const { result } = await addApp(client);
  const args = { app: result.app.id, name: 'Second' };
  const one = await callTwice(client.mcp, 'add_app_key', args);
  const two = await callTwice(client.mcp, 'add_app_key', args);
  expect(one.body.result).toEqual({ appId: result.app.id, api_key: expect.objectContaining({ name: 'Second' }) });
  expect(two.body.result.api_key.id).not.toBe(one.body.result.api_key.id);
  const { body } = await client.mcp.call('list_app_keys', { app: result.app.id });
  expect(body.keys).toHaveLength(3);
});

it('add_app_key with expires_at → the key expires; in the past → refused at the first call', async () => {
  const app = (await addApp(client)).result.app.id;
  const expiresAt = new Date(clock.nowMs() + MINUTE_MS).toISOString();
  const { body } = await callTwice(client.mcp, 'add_app_key', { app, name: 'Trial', expires_at: expiresAt });
  expect(body.result.api_key).toMatchObject({ name: 'Trial', expires_at: expiresAt });
  const late = await client.mcp.call('add_app_key', { app, name: 'Late', expires_at: '2020-01-01T00:00:00Z' });
  expect([late.body.status, late.body.message]).toEqual([400, 'expires_at: must be in the future']);
});

it('an application without keys → done, with nothing to reveal', async () => {
  const config = rawDeviceConfig();
  const { routing } = SERVER_APP.config;
  const { body } = await callTwice(client.mcp, 'add_app', {
    config: { name: 'With users', config: { authentication: config.authentication, routing } },
  });
  expect([body.state, body.result.api_key, body.reveal_url]).toEqual(['completed', undefined, undefined]);
});

it('a different request for the same operation → 409, and the first one can still run', async () => {
  const { body } = await client.mcp.call('add_app', { config: SERVER_APP });
  const { operation } = body;
  const other = { ...SERVER_APP, name: 'Another' };
  expect(refusal(await client.mcp.call('add_app', { config: other, operation }))).toEqual([
    ...[true, 409, 'operation_mismatch'],
  ]);
  const app = (await addApp(client)).result.app.id;
  expect(refusal(await client.mcp.call('add_app_key', { app, name: 'x', operation }))).toEqual([
    ...[true, 409, 'operation_mismatch'],
  ]);
  const reordered = { config: SERVER_APP.config, name: SERVER_APP.name };
  expect((await client.mcp.call('add_app', { config: reordered, operation })).body.state).toBe('completed');
  expect(refusal(await client.mcp.call('add_app', { config: other, operation }))).toEqual([
    ...[true, 409, 'operation_mismatch'],
  ]);
});

it.each([
  [-1, false, undefined],
  [0, true, 'operation_expired'],
])('%i ms around 15 minutes → refused: %s', async (aroundMs, isError, error) => {
  const { body } = await client.mcp.call('add_app', { config: SERVER_APP });
  clock.advance(15 * MINUTE_MS + aroundMs);
  const second = await client.mcp.call('add_app', { config: SERVER_APP, operation: body.operation });
  expect([second.isError, second.body.error]).toEqual([isError, error]);
  expect(await appsOf(client)).toHaveLength(isError ? 0 : 1);
});

it('an operation of another account, or none → the same 404; of another member → 409', async () => {
  const { body } = await client.mcp.call('add_app', { config: SERVER_APP });
  const stranger = await newChangeClient(world);
  const foreign = await stranger.mcp.call('add_app', { config: SERVER_APP, operation: body.operation });
  const missing = await stranger.mcp.call('add_app', { config: SERVER_APP, operation: `op:${'0'.repeat(64)}` });
  expect(refusal(foreign)).toEqual([true, 404, 'operation_not_found']);
  expect(foreign).toEqual(missing);
  const { key } = await newMember(world.dataSource, client.organizationId, { role: 'admin' });
  const colleague = await McpTestClient.connect(world.baseUrl, key);
  const taken = await colleague.call('add_app', { config: SERVER_APP, operation: body.operation });
  expect(refusal(taken)).toEqual([true, 409, 'operation_mismatch']);
  expect([await appsOf(client), await appsOf(stranger)]).toEqual([[], []]);
});

it('a sender who is demoted between the calls → 403; revoked → 401, with another of their keys → 409', async () => {
  const { body } = await client.mcp.call('add_app', { config: SERVER_APP });
  const again = { config: SERVER_APP, operation: body.operation };
  const setRole = (role: string) =>
    world.dataSource.query('UPDATE memberships SET role = $1 WHERE organization_id = $2', [
      ...[role, client.organizationId],
    ]);
  await setRole('member');
  expect(refusal(await client.mcp.call('add_app', again))).toEqual([true, 403, 'forbidden']);
  await setRole('owner');
  const spare = await client.owner.client.post('/v1/admin/keys', { name: 'Spare' });
  await client.owner.client.post(`/v1/admin/keys/${client.keyId}/revoke`, {});
  await expect(client.mcp.call('add_app', again)).rejects.toThrow();
  const other = await McpTestClient.connect(world.baseUrl, spare.body.key.plaintext);
  expect(refusal(await other.call('add_app', again))).toEqual([true, 409, 'conflict']);
  expect((await world.as(spare.body.key.plaintext).get('/v1/admin/apps')).body.apps).toEqual([]);
});

it.each<[string, Record<string, unknown>, string]>([
  ['add_app', { name: 'x', config: {} }, 'config.authentication: is required'],
  ['add_app', { name: 'x', config: SERVER_APP.config, operation: 5 }, 'operation: must be text'],
  ['add_app', { config: SERVER_APP.config }, 'name: is required'],
  ['add_app', { config: { name: 'x', config: {} } }, 'config.config.authentication: is required'],
  ['add_app', { config: { ...SERVER_APP, id: 'mine' } }, 'config.id: is assigned by the service and cannot be chosen'],
  ['add_app', {}, 'name: is required'],
  ['add_app', { config: SERVER_APP, operation: 5 }, 'operation: must be text'],
  ['add_app', { config: SERVER_APP, more: 1 }, 'more: is not a known member'],
  [
    'add_app',
    { config: { ...SERVER_APP, apiKey: 'x' } },
    'config.apiKey: is named like a credential; none may pass through a conversation',
  ],
  ['add_app_key', { name: 'x' }, 'app: is required'],
])('%s with %j → 400 at the first call: %s', async (name, args, message) => {
  const { body } = await client.mcp.call(name, args);
  expect([body.status, body.message]).toEqual([400, message]);
  const [{ count }] = await world.dataSource.query(
    'SELECT count(*)::int AS count FROM cli_operations WHERE organization_id = $1',
    [client.organizationId],
  );
  expect(count).toBe(0);
});

it('eleven reservations at once → the last one 429', async () => {
  const answers: unknown[] = [];
  for (let at = 0; at < 11; at++) {
    const { body } = await client.mcp.call('add_app', { config: { ...SERVER_APP, name: `App ${at}` } });
    answers.push(body.error ?? 'reserved');
  }
  expect(answers).toEqual([...Array.from({ length: 10 }, () => 'reserved'), 'rate_limited']);
});

it('a hostile name → data in results; recorded with source mcp, without the key', async () => {
  const { result } = await addApp(client, HOSTILE);
  expect(result.app.name).toBe(HOSTILE);
  const events = await world.dataSource.query(
    'SELECT action, action_source, credential_id, details::text FROM audit_events WHERE app_id = $1',
    [result.app.id],
  );
  expect(events).toEqual([
    expect.objectContaining({ action: 'app.created', action_source: 'mcp', credential_id: client.keyId }),
  ]);
  const [{ text }] = await world.dataSource.query(
    'SELECT string_agg(o::text, $2) AS text FROM cli_operations o WHERE organization_id = $1',
    [client.organizationId, '\n'],
  );
  expect(`${JSON.stringify(events)}${text}`).not.toMatch(KEY);
});

it('polling an operation of an AI client as a terminal → refused', async () => {
  const { body } = await client.mcp.call('add_app', { config: SERVER_APP });
  await client.mcp.call('add_app', { config: SERVER_APP, operation: body.operation });
  const { owner } = await newOrganization(world);
  for (const token of [body.operation.slice(3), client.key]) {
    expect((await world.as(token).get(`/v1/cli/operations/${body.id}`)).status).toBe(403);
  }
  expect((await owner.client.get(`/v1/admin/operations/${body.id}`)).status).toBe(404);
});
