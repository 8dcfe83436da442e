import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newOrganization } from '../../support/accounts/people.js';
import { McpTestClient, REVISIONS } from '../../support/mcp/mcp-client.js';
import { startWorld, type World } from '../../support/world.js';

const ALLOWED_ORIGIN = 'https://inspector.example.com';
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

let world: World;

beforeAll(async () => {
  world = await startWorld({ env: { REDIS_URL: '', MCP_ALLOWED_ORIGINS: ` ${ALLOWED_ORIGIN}/ , http://other.test` } });
});
afterAll(() => world.stop());

interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly bearer?: string | undefined;
}

async function ask({ method = 'POST', headers = {}, body = JSON.stringify(LIST), ...sent }: Sent) {
  const bearer = 'bearer' in sent ? sent.bearer : world.managementKey;
  const response = await fetch(`${world.baseUrl}/mcp`, {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(bearer && { authorization: `Bearer ${bearer}` }),
      ...headers,
    },
    ...(method === 'POST' && { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

describe.each(REVISIONS)('the MCP endpoint with a client of revision %s', (revision) => {
  it('connect, list, call, read → JSON answers throughout', async () => {
    const client = await McpTestClient.connect(world.baseUrl, world.managementKey, revision);
    expect(client.client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.client.getServerVersion()).toMatchObject({ name: 'gateway' });
    expect(client.client.getInstructions()).toContain('gw://guide');
    expect(await client.toolNames()).toContain('update_app');
    const { body } = await world.api.get('/v1/admin/apps');
    expect(await client.call('list_apps')).toEqual({ isError: false, text: '0 applications.', body });
    const { resources } = await client.client.listResources();
    expect(resources).toEqual([expect.objectContaining({ uri: 'gw://guide', mimeType: 'text/markdown' })]);
    const { contents } = await client.client.readResource({ uri: 'gw://guide' });
    expect(contents).toEqual([expect.objectContaining({ text: expect.stringContaining('# Managing this gateway') })]);
    expect(new Set(client.contentTypes)).toEqual(new Set(['application/json; charset=utf-8']));
    await client.client.close();
  });

  it('an unknown tool, an unknown resource → protocol errors', async () => {
    const { client } = await McpTestClient.connect(world.baseUrl, world.managementKey, revision);
    await expect(client.callTool({ name: 'add_everything' })).rejects.toThrow('There is no such tool.');
    await expect(client.readResource({ uri: 'gw://other' })).rejects.toThrow(/gw:\/\/other/);
    await client.close();
  });

  it('an invalid bearer token → the client gets the error', async () => {
    await expect(McpTestClient.connect(world.baseUrl, `${world.managementKey}x`, revision)).rejects.toThrow();
  });
});

describe('POST /mcp: authentication', () => {
  // The address of the metadata, where there is an authorization server: test/e2e/consent/oauth-flow.e2e-spec.ts.
  it('no credential, a foreign one → 401 with a challenge', async () => {
    const none = await ask({ bearer: undefined });
    expect([none.status, none.body.error.code]).toEqual([401, 'auth_required']);
    expect(none.headers.get('www-authenticate')).toBe('Bearer realm="management"');
    const foreign = await ask({ bearer: 'something-else' });
    expect(foreign.status).toBe(401);
    expect(foreign.headers.get('www-authenticate')).toBe('Bearer realm="management", error="invalid_token"');
  });

  it('the session of a signed-in owner → 401, even with the console header', async () => {
    const { owner } = await newOrganization(world);
    const headers = { cookie: owner.cookie, 'x-console-request': '1' };
    expect((await ask({ bearer: undefined, headers })).status).toBe(401);
  });

  it.each([
    ['none', undefined, 200],
    ['the console’s own', 'own', 200],
    ['one that the operator allows', ALLOWED_ORIGIN, 200],
    ['another', 'https://evil.example.com', 403],
    ['a sandboxed page', 'null', 403],
  ])('origin: %s → %3$i', async (_, origin, status) => {
    const sent = origin === 'own' ? world.consoleOrigin : origin;
    const answer = await ask(sent === undefined ? {} : { headers: { origin: sent } });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('a foreign origin without a credential → 403, before the credential is checked', async () => {
    expect((await ask({ bearer: undefined, headers: { origin: 'https://evil.example.com' } })).status).toBe(403);
  });
});

describe('POST /mcp: requests', () => {
  it.each(['GET', 'DELETE'])('%s → 405', async (method) => {
    const { status, headers, body } = await ask({ method, bearer: undefined });
    expect([status, headers.get('allow'), body.error.code]).toEqual([405, 'POST', 'invalid_request']);
  });

  it.each([
    ['several messages at once', JSON.stringify([LIST, LIST]), 'body: must be a JSON object'],
    ['no JSON', '{', 'body: is not valid JSON'],
    ['a member twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 'id: is given twice'],
  ])('%s → 400', async (_, body, message) => {
    const answer = await ask({ body });
    expect([answer.status, answer.body.error]).toEqual([400, { code: 'invalid_request', message }]);
  });

  it('another media type → 400', async () => {
    expect((await ask({ headers: { 'content-type': 'text/plain' } })).status).toBe(400);
  });

  it('a notification → 202 without a body', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const answer = await ask({ body });
    expect([answer.status, answer.body]).toEqual([202, undefined]);
  });

  it('a client that accepts only JSON → JSON', async () => {
    const answer = await ask({ headers: { accept: 'application/json' } });
    expect([answer.status, answer.body.id]).toEqual([200, 1]);
  });

  it('a subscription, which needs a stream → refused with JSON', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const method = 'subscriptions/listen';
    const params = { _meta: meta, notifications: { toolsListChanged: true } };
    const answer = await ask({
      headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
    });
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.body).toMatchObject({ id: 7, error: { code: expect.any(Number) } });
  });
});

describe('the host of the MCP endpoint', () => {
  it('the service has a public name → 404 under any other, naming the right one', async () => {
    const named = await startWorld({ env: { REDIS_URL: '', PUBLIC_URL: 'https://gateway.example.com' } });
    const response = await fetch(`${named.baseUrl}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${named.managementKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(LIST),
    });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('https://gateway.example.com');
    await named.stop();
  });
});
