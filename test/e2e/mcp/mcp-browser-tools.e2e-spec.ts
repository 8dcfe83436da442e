import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newMember } from '../../support/accounts/accounts.js';
import { newPerson } from '../../support/accounts/people.js';
import { ApprovalBrowser } from '../../support/cli/terminal.js';
import { FakeClock } from '../../support/clock.js';
import { type ChangeClient, newChangeClient } from '../../support/mcp/change-client.js';
import { McpTestClient } from '../../support/mcp/mcp-client.js';
import { startWorld, type World } from '../../support/world.js';

const MINUTE_MS = 60_000;
const SECRET = 'sk-typed-by-a-person-for-an-ai-client-4711';
const PROVIDER = { type: 'openai', name: 'OpenAI' };

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

interface Step {
  readonly operation: string;
  readonly url: string;
}

const proofOf = ({ url }: Step) => new URL(url).hash.slice(1);
const approve = (step: Step, secret?: string) =>
  new ApprovalBrowser(world).approve(step.operation, proofOf(step), secret === undefined ? {} : { secret });
const read = async ({ operation }: Step) => (await client.mcp.call('get_operation', { id: operation })).body;

async function newProvider(): Promise<{ id: string; revision: number }> {
  const body = { ...PROVIDER, secret: 'sk-the-first-key-of-all' };
  return (await world.as(client.key).post('/v1/admin/providers', body)).body.provider;
}

async function newGateway(): Promise<{ id: string; revision: number }> {
  const body = { type: 'vercel', name: 'Edge', token: 'the-first-token-of-all' };
  return (await world.as(client.key).post('/v1/admin/provider-gateways', body)).body.gateway;
}

describe('tools that a person completes', () => {
  it('add_provider → a link; the key is entered there, and appears in no answer, log or record', async () => {
    const { body: step, text } = await client.mcp.call('add_provider', PROVIDER);
    expect(step).toEqual({
      operation: expect.stringMatching(/^op:[0-9a-f]{64}$/),
      url: expect.stringMatching(/\/cli\/approve\/op%3A[0-9a-f]{64}#[0-9a-f]{64}$/),
      expiresAt: new Date(clock.nowMs() + 15 * MINUTE_MS).toISOString(),
      next: expect.stringContaining('get_operation'),
    });
    expect(await read(step)).toMatchObject({ id: step.operation, kind: 'provider.add', state: 'pending' });
    const done = await approve(step, SECRET);
    expect([done.status, done.body.message]).toEqual([200, 'Done. Return to your AI client.']);
    const standing = await read(step);
    expect(standing).toMatchObject({
      state: 'completed',
      result: { provider: { slug: 'openai', secretHint: '4711' } },
    });
    const records = await world.dataSource.query(
      `SELECT (SELECT json_agg(e)::text FROM audit_events e WHERE organization_id = $1) AS events,
              (SELECT json_agg(o)::text FROM cli_operations o WHERE organization_id = $1) AS operations`,
      [client.organizationId],
    );
    expect(JSON.stringify([text, standing, records, world.logs])).not.toContain(SECRET);
    expect(records[0].events).toContain('"action":"provider.created"');
    expect(records[0].events).toContain('"action_source":"mcp"');
  });

  it('add_provider_gateway → the fields of its route; those of an earlier version inside `gateway`', async () => {
    const body = { type: 'vercel', name: 'Edge' };
    for (const args of [body, { gateway: body }]) {
      const { body: step } = await client.mcp.call('add_provider_gateway', args);
      await approve(step, SECRET);
      expect((await read(step)).result.gateway).toMatchObject(body);
    }
    const { tools } = await client.mcp.client.listTools();
    const { inputSchema } = tools.find(({ name }) => name === 'add_provider_gateway') ?? {};
    expect(inputSchema).toMatchObject({
      required: ['type', 'name'],
      properties: {
        type: { enum: ['cf_aig', 'vercel'] },
        accountId: { type: 'string' },
        gatewayId: { type: 'string' },
      },
    });
    expect(JSON.stringify(inputSchema)).not.toContain('"token"');
  });

  it('rotate_provider_key, rotate_provider_gateway_key → for the revision that was read, else 409 on the page', async () => {
    const provider = await newProvider();
    const gateway = await newGateway();
    for (const [tool, named, { id, revision }] of [
      ['rotate_provider_key', 'provider', provider],
      ['rotate_provider_gateway_key', 'gateway', gateway],
    ] as const) {
      const { body: step } = await client.mcp.call(tool, { [named]: id, revision });
      const { body: late } = await client.mcp.call(tool, { id, revision });
      expect((await approve(step, SECRET)).status).toBe(200);
      expect((await approve(late, SECRET)).status).toBe(409);
      expect(await read(late)).toMatchObject({ state: 'pending', failure: { code: 'conflict' } });
      expect((await client.mcp.call(tool, { [named]: id, revision })).body).toMatchObject({ error: 'conflict' });
      expect(Object.values((await read(step)).result)).toEqual([expect.objectContaining({ id, revision: 2 })]);
      const stranger = await newChangeClient(world);
      expect((await stranger.mcp.call(tool, { id })).body.status).toBe(404);
    }
  });

  it('claim_account → for an account that no person owns; the person becomes its owner', async () => {
    const owned = await client.mcp.call('claim_account');
    expect(owned.body).toMatchObject({ error: 'conflict', status: 409 });
    const unclaimed = await McpTestClient.connect(world.baseUrl, world.managementKey);
    const { body: step } = await unclaimed.call('claim_account');
    const person = await newPerson(world, {});
    const browser = new ApprovalBrowser(world, person.cookie);
    const claimed = await browser.approve(step.operation, proofOf(step));
    expect([claimed.status, claimed.body.message]).toEqual([
      ...[200, 'You now own this account. The AI client keeps its access.'],
    ]);
    expect((await unclaimed.call('get_operation', { id: step.operation })).body.state).toBe('completed');
  });

  it('the same request within the hour → a notice that names the earlier one; later, or a different request → none', async () => {
    const { body: first } = await client.mcp.call('add_provider', PROVIDER);
    clock.advance(60 * MINUTE_MS - 1);
    const { body: second } = await client.mcp.call('add_provider', { name: PROVIDER.name, type: PROVIDER.type });
    expect(second.notice).toContain(first.operation);
    expect(second.operation).not.toBe(first.operation);
    expect((await client.mcp.call('add_provider', { ...PROVIDER, name: 'Other' })).body.notice).toBeUndefined();
    clock.advance(60 * MINUTE_MS);
    expect((await client.mcp.call('add_provider', PROVIDER)).body.notice).toBeUndefined();
  });

  it('declined → expired with denied; 15 minutes → expired', async () => {
    const { body: declined } = await client.mcp.call('add_provider', PROVIDER);
    const { body: lapsed } = await client.mcp.call('add_provider', PROVIDER);
    await new ApprovalBrowser(world).deny(declined.operation, proofOf(declined));
    expect(await read(declined)).toMatchObject({ state: 'expired', denied: true });
    clock.advance(15 * MINUTE_MS - 1);
    expect((await read(lapsed)).state).toBe('pending');
    clock.advance(1);
    expect(await read(lapsed)).toMatchObject({ state: 'expired' });
    expect((await approve(lapsed, SECRET)).status).toBe(410);
  });

  it('a sender who is demoted or revoked before the approval → 409, nothing changed', async () => {
    const { body: step } = await client.mcp.call('add_provider', PROVIDER);
    const setRole = (role: string) =>
      world.dataSource.query('UPDATE memberships SET role = $1 WHERE organization_id = $2', [
        ...[role, client.organizationId],
      ]);
    await setRole('member');
    expect((await approve(step, SECRET)).body.error.code).toBe('conflict');
    await setRole('owner');
    await client.owner.client.post(`/v1/admin/keys/${client.keyId}/revoke`, {});
    expect((await approve(step, SECRET)).body.error.code).toBe('conflict');
    expect((await client.owner.client.get('/v1/admin/providers')).body.providers).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['add_provider', { ...PROVIDER, secret: SECRET }, 'secret: is named like a credential'],
    ['add_provider', { ...PROVIDER, type: 'none' }, 'type: must be one of'],
    ['add_provider', { ...PROVIDER, more: 1 }, 'more: is not a known member'],
    ['add_provider_gateway', { gateway: { type: 'vercel', name: 'x', token: SECRET } }, 'gateway.token: is named like'],
    ['add_provider_gateway', { gateway: { type: 'none' } }, 'gateway.type: must be one of'],
    ['rotate_provider_key', { id: 'x', revision: 0 }, 'revision: must be a whole number'],
    ['rotate_provider_key', { id: 'x', provider: 'y' }, 'id: is not a known member'],
    ['rotate_provider_key', {}, 'provider: is required'],
    ['add_provider_gateway', { type: 'none' }, 'type: must be one of'],
    ['add_provider', { ...PROVIDER, slug: 'mistral' }, 'slug: '],
    ['claim_account', { more: 1 }, 'more: is not a known member'],
    ['get_operation', {}, 'id: is required'],
  ])('%s with %j → 400 %s', async (tool, args, message) => {
    const { body } = await client.mcp.call(tool, args);
    expect([body.status, body.message]).toEqual([400, expect.stringMatching(`^${message}`)]);
    expect(JSON.stringify([body, world.logs])).not.toContain(SECRET);
  });

  it('a credential that may only read → can read operations, but not create any', async () => {
    const { body: step } = await client.mcp.call('add_provider', PROVIDER);
    const { key } = await newMember(world.dataSource, client.organizationId, { role: 'owner', grant: 'read' });
    const reader = await McpTestClient.connect(world.baseUrl, key);
    expect((await reader.call('get_operation', { id: step.operation })).body.state).toBe('pending');
    for (const tool of ['add_provider', 'add_app', 'claim_account']) {
      expect((await reader.call(tool)).body).toMatchObject({ status: 403, error: 'grant_insufficient' });
    }
  });
});
