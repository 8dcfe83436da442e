import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import type { ApiClient } from '../../support/api-client.js';
import { Gw, type GwRun } from '../../support/gw/gw.js';
import { losing } from '../../support/gw/lossy-proxy.js';
import { listening } from '../../support/loopback.js';
import { startWorld, type World } from '../../support/world.js';

const CONFIG = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };
let world: World;
let gw: Gw;
let api: ApiClient;
let key: string;

beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  ({ key } = await newAccount(world.dataSource));
  api = world.as(key);
  gw = new Gw({ GW_URL: world.baseUrl, GW_MANAGEMENT_KEY: key });
});
afterEach(() => gw.remove());
afterAll(() => world.stop());

const errorOf = ({ exitCode, json: document }: GwRun) => [exitCode, document?.error?.code];
const draft = (name: string) => JSON.stringify({ name, config: CONFIG });

describe('gw api', () => {
  it('GET → the answer of the API; with --json in the envelope', async () => {
    const { body } = await api.get('/v1/admin/providers');
    expect(JSON.parse((await gw.run('api GET /v1/admin/providers')).stdout)).toEqual(body);
    expect((await gw.run('api GET /v1/admin/providers --json')).json.result).toEqual({ status: 200, body });
  });

  it.each([
    ['as typed', async () => ['--data', draft('One')], ''],
    ['of a file', async () => ['--data', '@app.json'], ''],
    ['of standard input', async () => ['--data', '-'], draft('One')],
  ])('POST with a body %s → created', async (_name, flags, input) => {
    writeFileSync(join(gw.home, 'app.json'), draft('One'));
    const run = await gw.run(['api', 'POST', '/v1/admin/apps', ...(await flags()), '--json'], input);
    expect(run.json.result).toMatchObject({ status: 201, body: { app: { name: 'One' } } });
  });

  it('PUT, PATCH and DELETE → as in the API', async () => {
    const { body } = await api.post('/v1/admin/apps', { name: 'One', config: CONFIG });
    const path = `/v1/admin/apps/${body.app.id}`;
    const data = JSON.stringify({ name: 'Two', config: CONFIG, revision: 1 });
    const put = await gw.run(['api', 'PUT', path, '--data', data, '--json']);
    expect(put.json.result.body.app).toMatchObject({ name: 'Two', revision: 2 });
    expect((await gw.run(`api DELETE ${path}?confirm=${body.app.id} --json`)).json.result.body.deleted).toBe(true);
    expect(errorOf(await gw.run(`api GET ${path} --json`))).toEqual([2, 'app_not_found']);
  });

  it('--paginate → the rows of all pages, for both kinds of list', async () => {
    for (const name of ['One', 'Two', 'Three', 'Four', 'Five'])
      await api.post('/v1/admin/apps', { name, config: CONFIG });
    const names = (rows: { name: string }[]) => rows.map(({ name }) => name);
    const paged = await gw.run('api GET /v1/admin/apps?limit=2&sort=name --paginate --json');
    expect(names(paged.json.result.body.apps)).toEqual(['Five', 'Four', 'One', 'Three', 'Two']);
    const skipped = await gw.run('api GET /v1/admin/apps?limit=2&sort=name&offset=3 --paginate --json');
    expect(names(skipped.json.result.body.apps)).toEqual(['Three', 'Two']);
    const { json: trail } = await gw.run('api GET /v1/admin/audit-events?limit=2 --paginate --json');
    expect([trail.result.body.events.length, trail.result.body.next_before_id]).toEqual([5, null]);
    const { json: single } = await gw.run('api GET /v1/cli/account --paginate --json');
    expect(single.result.body).toEqual((await api.get('/v1/cli/account')).body);
  });

  it('a refusal → its code and exit code; an action that only a person may take → the URL of the console', async () => {
    expect(errorOf(await gw.run(['api', 'POST', '/v1/admin/apps', '--data', '{}', '--json']))).toEqual([
      ...[2, 'invalid_request'],
    ]);
    const run = await gw.run('api GET /v1/admin/members --json');
    expect(errorOf(run)).toEqual([4, 'session_required']);
    const { consoleOrigin } = (await api.get('/v1/cli/capabilities')).body;
    expect(run.json.error.nextAction).toContain(consoleOrigin);
  });

  it.each([
    ['GET http://other.example.com/v1/admin/apps', 'invalid_path'],
    ['GET //other.example.com/v1/admin/apps', 'invalid_path'],
    ['GET /v1/admin/../cli/account', 'invalid_path'],
    ['GET /v1/admin/%2e%2e/cli/account', 'invalid_path'],
    ['GET v1/admin/apps', 'invalid_path'],
    ['GET /v1/admin/apps --data {}', 'invalid_option'],
    ['POST /v1/admin/apps --data {no', 'invalid_option'],
    ['POST /v1/admin/apps --data @none.json', 'file_unusable'],
    ['POST /v1/admin/apps --data {} --paginate', 'invalid_option'],
    ['FETCH /v1/admin/apps', 'invalid_command'],
  ])('%s → exit 2 %s, and no request', async (line, code) => {
    let count = 0;
    const server = await listening(
      createServer((_request, answer) => {
        count++;
        answer.end();
      }),
    );
    const run = await gw.run(`api ${line} --json`, '', { GW_URL: server.url });
    expect([...errorOf(run), count]).toEqual([2, code, 0]);
    await server.close();
  });

  it('a redirect → not followed, and the key is sent nowhere else', async () => {
    const seen: (string | undefined)[] = [];
    const elsewhere = await listening(
      createServer((request, answer) => {
        seen.push(request.headers.authorization);
        answer.end('{}');
      }),
    );
    const redirecting = await losing(
      world.baseUrl,
      () => false,
      async () => undefined,
      (path) => (path === '/v1/admin/providers' ? `${elsewhere.url}/v1/admin/providers` : undefined),
    );
    const run = await gw.run('api GET /v1/admin/providers --json', '', { GW_URL: redirecting.url });
    expect([...errorOf(run), seen]).toEqual([3, 'http_302', []]);
    await Promise.all([elsewhere.close(), redirecting.close()]);
  });

  it('a creation whose answer is lost, repeated → created once', async () => {
    let isLost = true;
    const lossy = await losing(world.baseUrl, (method) => isLost && method === 'POST');
    const words = ['api', 'POST', '/v1/admin/apps', '--data', draft('Once'), '--json'];
    expect(errorOf(await gw.run(words, '', { GW_URL: lossy.url }))).toEqual([3, 'unreachable']);
    isLost = false;
    const { json: document } = await gw.run(words, '', { GW_URL: lossy.url });
    expect(document.result.body.app.name).toBe('Once');
    expect((await api.get('/v1/admin/apps')).body.total).toBe(1);
    await lossy.close();
  });

  it('an answer with control characters → shown escaped, without effect on the terminal', async () => {
    await api.post('/v1/admin/apps', { name: 'One', config: CONFIG });
    const [{ id }] = (await api.get('/v1/admin/apps')).body.apps;
    const user = 'a\u001b]0;owned\u0007b\u009b31mc\u202ed';
    await world.dataSource.query('UPDATE apps SET name = $1 WHERE id = $2', [user, id]);
    const session = gw.onTerminal(`api GET /v1/admin/apps/${id}`);
    expect(await session.ended).toBe(0);
    expect(session.screen).toContain('a\\u001b]0;owned\\u0007b\\u009b31mc\\u202ed');
    for (const obeyed of ['\u001b]0;owned', '\u009b', '\u202e']) expect(session.written).not.toContain(obeyed);
    expect(JSON.parse((await gw.run(`api GET /v1/admin/apps/${id}`)).stdout).app.name).toBe(user);
  });

  it('an answer that is not JSON → its text', async () => {
    const { exitCode, stdout } = await gw.run('api GET /v1/cli/stream');
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('data:')]);
  });
});
