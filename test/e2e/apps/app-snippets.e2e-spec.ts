import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { codeOf } from '../../support/api-client.js';
import { McpTestClient } from '../../support/mcp/mcp-client.js';
import { startWorld, type World } from '../../support/world.js';

const MODEL = 'gpt-4.1-mini';
const ENDPOINTS = { ask: { api_style: 'responses', provider: 'openai', model: MODEL } };
const ROUTING = {
  providers: { mode: 'selected', selected: { openai: { allowed_paths: [], allowed_models: [MODEL] } } },
  model_rewrites: {},
};
const DEVICE = {
  type: 'device_app_attest',
  end_user: { source: 'app_install' },
  app_attest: { team_id: 'ABCDE12345', bundle_id: 'com.example.app' },
};

let world: World;
let app: { id: string; key: string };

beforeAll(async () => {
  world = await startWorld({ env: { REDIS_URL: '' } });
  await world.provider({ slug: 'openai' });
  app = await world.app({
    authentication: { type: 'api_key', end_user: { source: 'header', header: 'x-customer' } },
    routing: ROUTING,
    endpoints: ENDPOINTS,
  });
});
beforeEach(() => world.upstream.forget());
afterAll(() => world.stop());

const snippet = (query = '', id = app.id) => world.api.get(`/v1/admin/apps/${id}/snippet${query}`);

/** Runs a snippet as printed, against the port that the service of this suite has. */
async function run(text: string): Promise<string> {
  const here = text.replace(/http:\/\/localhost:\d+/, world.baseUrl);
  const { stdout } = await promisify(execFile)('bash', ['-c', here], { env: { ...process.env, APP_KEY: app.key } });
  return stdout;
}

describe('GET /v1/admin/apps/{app}/snippet', () => {
  it.each([
    ['', 'v1/responses'],
    ['?language=curl&provider=openai', 'v1/responses'],
    ['?endpoint=ask', 'v1/responses'],
  ])('%s → a command that works with the application’s key', async (query, path) => {
    const { status, body } = await snippet(query);
    expect([status, body.language, body.notes.length]).toEqual([200, 'shell', query === '?endpoint=ask' ? 2 : 1]);
    expect(body.snippet).not.toContain(app.key);
    expect(JSON.parse(await run(body.snippet)).error).toBeUndefined();
    expect(world.upstream.requests.map((request) => request.path)).toEqual([`/${path}`]);
    const { events } = (await world.api.get(`/v1/admin/apps/${app.id}/events?limit=1`)).body;
    expect(events[0] ?? { user_id: 'user-1' }).toMatchObject({ user_id: 'user-1' });
  });

  it('a mobile application → Swift, and curl with a token', async () => {
    const { id } = await world.app({ authentication: DEVICE, routing: ROUTING });
    const swift = (await snippet('?language=swift', id)).body;
    expect(swift).toMatchObject({ language: 'swift', snippet: expect.stringContaining(`let appId = "${id}"`) });
    const { body } = await snippet('', id);
    expect(body.snippet).toMatch(/\$GATEWAY_TOKEN"[\s\S]*X-App-Version/);
  });

  it.each<[string, [number, string]]>([
    ['?language=swift', [400, 'unsupported_snippet']],
    ['?language=rust', [400, 'invalid_request']],
    ['?provider=openai&endpoint=ask', [400, 'invalid_request']],
    ['?provider=another', [404, 'provider_not_found']],
    ['?endpoint=another', [404, 'endpoint_not_found']],
  ])('%s → %j', async (query, expected) => {
    expect(codeOf(await snippet(query))).toEqual(expected);
  });

  it('get_app_snippet → the same result, and the same refusals', async () => {
    const client = await McpTestClient.connect(world.baseUrl, world.managementKey);
    const { body, text } = await client.call('get_app_snippet', { app: app.id, endpoint: 'ask' });
    const here = { ...body, snippet: body.snippet.replace('http://localhost:0', world.baseUrl) };
    expect([here, text]).toEqual([(await snippet('?endpoint=ask')).body, 'An example call, for a shell.']);
    const refused = await client.call('get_app_snippet', { app: app.id, language: 'swift' });
    expect(refused.body).toMatchObject({ error: 'unsupported_snippet', status: 400 });
  });
});
