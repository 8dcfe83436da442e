import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { type AddressInfo, connect as netConnect } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import { Gw } from '../../support/gw/gw.js';
import { startWorld, type World } from '../../support/world.js';

let world: World;
let gw: Gw;
let key: string;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  gw = new Gw();
  ({ key, organizationId } = await newAccount(world.dataSource));
});
afterEach(() => gw.remove());
afterAll(() => world.stop());

const connect = (flags = '') =>
  gw.run(`deployment connect --url ${world.baseUrl} --key-stdin --json ${flags}`, `${key}\n`);
const modeOf = (path: string) => statSync(join(gw.stateFolder, path)).mode & 0o777;
const errorOf = ({ exitCode, json }: Awaited<ReturnType<Gw['run']>>) => [exitCode, json?.error?.code];

/** A server that answers every request the same way, and records requests. */
async function stranger(status: number, text: string): Promise<{ url: string; server: Server; keys: string[] }> {
  const keys: string[] = [];
  const server = createServer((request, response) => {
    if (request.headers.authorization !== undefined) keys.push(request.headers.authorization);
    response.writeHead(status, { 'content-type': 'application/json', location: world.baseUrl }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, keys };
}

describe('gw deployment connect', () => {
  it('with a key on standard input → saved readable only by this person, and used by every command', async () => {
    const line = `deployment connect --url ${world.baseUrl} --key-stdin --json`;
    const connected = await gw.runAsProcess(line, `${key}\n`);
    expect([connected.exitCode, connected.stderr]).toEqual([0, '']);
    expect(connected.json).toMatchObject({
      ...{ schemaVersion: 1, ok: true },
      context: { url: world.baseUrl, accountId: organizationId },
      result: { profile: 'default', url: world.baseUrl, accountId: organizationId },
    });
    expect(connected.stdout).not.toContain(key);
    expect([modeOf('.'), modeOf('profiles'), modeOf('profiles/default.key')]).toEqual([0o700, 0o700, 0o600]);
    expect(readdirSync(join(gw.stateFolder, 'profiles')).sort()).toEqual(['default.json', 'default.key']);
    const status = await gw.run('account status --json');
    expect(status.json.result.account.id).toBe(organizationId);
  });

  it('a key that the gateway refuses → exit 4, nothing is saved', async () => {
    key = 'gw_mgmt_not-a-key-of-this-gateway';
    expect(errorOf(await connect())).toEqual([4, 'auth_required']);
    expect(errorOf(await gw.run('account status --json'))).toEqual([4, 'not_connected']);
  });

  it.each([['two words'], ['two\nlines'], ['käse'], ['\u0000']])('a key %j → exit 2, no request', async (text) => {
    key = text;
    expect(errorOf(await connect())).toEqual([2, 'key_malformed']);
    const { exitCode, json } = await gw.run('account status --json', '', {
      GW_URL: world.baseUrl,
      GW_MANAGEMENT_KEY: 'a b',
    });
    expect([exitCode, json.error.code]).toEqual([2, 'key_malformed']);
  });

  it('nothing on standard input → exit 2', async () => {
    key = '';
    expect(errorOf(await connect())).toEqual([2, 'stdin_empty']);
  });

  it.each([['gateway'], ['ftp://example.com'], ['http://user@127.0.0.1'], ['http://gateway.example.com']])(
    '--url %s → exit 2, no request',
    async (url) => {
      const { exitCode, json } = await gw.run(`deployment connect --json --url ${url}`);
      expect(exitCode).toBe(2);
      expect(json.error.code).toMatch(/^(?:invalid|insecure)_url$/);
    },
  );

  it('several deployments side by side, each with its key', async () => {
    await connect('--profile one');
    const first = organizationId;
    ({ key, organizationId } = await newAccount(world.dataSource));
    await connect('--profile two');
    expect((await gw.run('account status --json --profile one')).json.context.accountId).toBe(first);
    expect((await gw.run('account status --json')).json.context.accountId).toBe(organizationId);
    expect((await gw.run('account status --json', '', { GW_PROFILE: 'one' })).json.context.accountId).toBe(first);
  });

  it.each([['../escape'], ['A'], ['a/b']])('profile %s → exit 2', async (name) => {
    expect(errorOf(await connect(`--profile ${name}`))).toEqual([2, 'invalid_profile']);
  });
});

describe('where the key goes', () => {
  it('the key in the environment overrides the saved one and needs no login', async () => {
    const environment = { GW_URL: world.baseUrl, GW_MANAGEMENT_KEY: key };
    const { exitCode, json } = await gw.run('account status --json', '', environment);
    expect([exitCode, json.context.accountId]).toEqual([0, organizationId]);
    expect(readdirSync(gw.home)).toEqual([]);
  });

  it('a saved key → sent only to the address that it was saved for', async () => {
    await connect();
    const other = await stranger(200, '{}');
    expect(errorOf(await gw.run('account status --json', '', { GW_URL: other.url }))).toEqual([4, 'not_logged_in']);
    expect(other.keys).toEqual([]);
    other.server.close();
  });

  it('a saved key → not sent to another deployment at that address', async () => {
    await connect();
    const file = join(gw.stateFolder, 'profiles/default.json');
    const profile = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...profile, deploymentId: 'another' }));
    expect(errorOf(await gw.run('account status --json'))).toEqual([4, 'deployment_changed']);
  });

  it('logout → revoked and deleted', async () => {
    await connect();
    expect((await gw.run('account logout --json')).json.result).toEqual({ profile: 'default', revoked: true });
    expect(errorOf(await gw.run('account status --json'))).toEqual([4, 'not_logged_in']);
    expect((await world.as(key).get('/v1/cli/account')).status).toBe(401);
  });

  it('a damaged profile → exit 4 that says what to do', async () => {
    await connect();
    writeFileSync(join(gw.stateFolder, 'profiles/default.json'), '{"version": 1, ');
    const { exitCode, json } = await gw.run('account status --json');
    expect([exitCode, json.error.code]).toEqual([4, 'profile_unreadable']);
    expect(json.error.nextAction).toContain('gw deployment connect');
  });

  it('a damaged state file → its path, and what to do', async () => {
    await connect();
    writeFileSync(join(gw.stateFolder, 'current'), '\u0000/../x');
    const { exitCode, json } = await gw.run('account status --json');
    expect([exitCode, json.error.code]).toEqual([4, 'state_damaged']);
    expect(json.error.message).toContain(join(gw.stateFolder, 'current'));
    expect(json.error.nextAction).toContain('remove the file');
  });

  it('a state folder that cannot be written → exit 4', async () => {
    writeFileSync(gw.stateFolder, 'a file and no folder');
    expect(errorOf(await connect())).toEqual([4, 'state_unusable']);
  });
});

describe('servers that are not a gateway', () => {
  it.each([
    [200, 'no JSON', 3, 'unexpected_answer'],
    [200, '{"protocolVersion":1}', 3, 'unexpected_answer'],
    [200, '{"protocolVersion":2}', 4, 'unsupported_protocol'],
    [200, '{"protocolVersion":0}', 4, 'unsupported_protocol'],
    [302, '', 3, 'http_302'],
    [404, '{}', 2, 'http_404'],
    [503, 'no JSON', 3, 'http_503'],
  ])('%i %s → exit %i %s, without the key', async (status, text, exitCode, code) => {
    const { url, server, keys } = await stranger(status, text);
    const run = await gw.run('account status --json', '', { GW_URL: url, GW_MANAGEMENT_KEY: key });
    expect(errorOf(run)).toEqual([exitCode, code]);
    expect(keys).toEqual([]);
    server.close();
  });

  it('a proxy that answers 502 with a page → reported as such', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const run = await gw.run('deployment status --json', '', { GW_URL: `http://127.0.0.1:${port}` });
    expect(errorOf(run)).toEqual([3, 'http_502']);
    expect(run.json.error.message).toContain('status 502 and text/html');
    expect(run.json.error.nextAction).toContain('proxy');
    server.close();
  });

  it('control sequences in an answer → none on the terminal, none in a document', async () => {
    const message = 'now \u001b[2J\u009b2Jgone\u0007';
    const { url, server } = await stranger(400, JSON.stringify({ error: { code: 'x', message } }));
    const plain = await gw.run('deployment status', '', { GW_URL: url });
    expect([plain.exitCode, plain.stderr]).toEqual([2, 'Error: now gone (x)\n']);
    const document = await gw.run('deployment status --json', '', { GW_URL: url });
    for (const character of ['\u001b', '\u009b', '\u0007']) expect(document.stdout).not.toContain(character);
    expect(document.json.error.message).toBe(message);
    server.close();
  });

  it('bidirectional control characters → shown escaped, on the terminal and in a document', async () => {
    const message = 'Account \u202egro.live\u2066';
    const { url, server } = await stranger(400, JSON.stringify({ error: { code: 'x', message } }));
    const plain = await gw.run('deployment status', '', { GW_URL: url });
    expect(plain.stderr).toBe('Error: Account \\u202egro.live\\u2066 (x)\n');
    const document = await gw.run('deployment status --json', '', { GW_URL: url });
    expect(document.stdout).not.toContain('\u202e');
    expect(document.json.error.message).toBe(message);
    server.close();
  });

  it('no browser login → exit 4 that names the alternative', async () => {
    const capabilities = {
      ...{ protocolVersion: 1, serverVersion: '1.0.0', consoleOrigin: 'https://gateway.example.com' },
      deployment: {
        id: 'd',
        mode: 'self_hosted',
        apiUrl: 'https://a.example.com',
        consoleOrigin: 'https://a.example.com',
      },
      ...{ providers: [], providerGateways: [], features: { browserLogin: false } },
    };
    const { url, server } = await stranger(200, JSON.stringify(capabilities));
    const run = await gw.run(`account login --url ${url} --json`);
    expect(errorOf(run)).toEqual([4, 'login_unavailable']);
    expect(run.json.error.nextAction).toContain('--key-stdin');
    server.close();
  });

  it('no server listens → exit 3', async () => {
    const { url, server } = await stranger(200, '{}');
    await new Promise((resolve) => server.close(resolve));
    const run = await gw.runAsProcess('deployment status --json', '', { GW_URL: url });
    expect(errorOf(run)).toEqual([3, 'unreachable']);
  });
});

describe('HTTPS_PROXY and HTTP_PROXY', () => {
  /** A proxy for any host that forwards everything to the world, and records the requested hosts. */
  async function startProxy() {
    const asked: string[] = [];
    const { port } = new URL(world.baseUrl);
    const server = createServer((request, response) => {
      const { host, pathname, search } = new URL(request.url ?? '', world.baseUrl);
      asked.push(host);
      const { method, headers } = request;
      const passed = httpRequest({ host: '127.0.0.1', port, method, headers, path: pathname + search }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      request.pipe(passed);
    });
    server.on('connect', ({ url = '' }, client) => {
      asked.push(url.replace(/:80$/, ''));
      const way = netConnect(Number(port), '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
      way.on('error', () => client.destroy()).pipe(client);
      client.on('error', () => way.destroy()).pipe(way);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const close = () => {
      server.close();
      server.closeAllConnections();
    };
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close };
  }
  const TEST = { GW_URL: 'http://gateway.test', GW_ALLOW_HTTP: '1' };

  it.each(['HTTP_PROXY', 'http_proxy'])('%s → every request uses it', async (name) => {
    const proxy = await startProxy();
    const environment = { ...TEST, GW_MANAGEMENT_KEY: key, [name]: proxy.url };
    const run = await gw.runAsProcess('account status --json', '', environment);
    expect([run.exitCode, run.json.context.accountId]).toEqual([0, organizationId]);
    expect(new Set(proxy.asked)).toEqual(new Set(['gateway.test']));
    proxy.close();
  });

  it('a host of NO_PROXY, and this machine → without the proxy', async () => {
    const proxy = await startProxy();
    const direct = { ...TEST, HTTP_PROXY: proxy.url, NO_PROXY: 'other.test, gateway.test' };
    expect(errorOf(await gw.runAsProcess('deployment status --json', '', direct))).toEqual([3, 'unreachable']);
    const own = { GW_URL: world.baseUrl, HTTP_PROXY: proxy.url };
    expect((await gw.runAsProcess('deployment status --json', '', own)).exitCode).toBe(0);
    expect(proxy.asked).toEqual([]);
    proxy.close();
  });

  it('an invalid proxy URL → exit 2 with one sentence', async () => {
    const run = await gw.runAsProcess('deployment status', '', { ...TEST, HTTPS_PROXY: 'nonsense' });
    expect([run.exitCode, run.stderr]).toEqual([2, expect.stringMatching(/^Error: HTTPS_PROXY is not/)]);
  });
});

describe('providers and applications', () => {
  it('list and show → by id, slug and handle', async () => {
    await connect();
    const api = world.as(key);
    const provider = { type: 'openai', name: 'OpenAI', slug: 'openai', secret: 'sk-of-a-provider' };
    const { body: created } = await api.post('/v1/admin/providers', provider);
    const config = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };
    const { body } = await api.post('/v1/admin/apps', { name: 'Notes', handle: 'notes', config });
    for (const named of ['openai', created.provider.id]) {
      expect((await gw.run(`provider show ${named} --json`)).json.result.provider).toEqual(created.provider);
    }
    for (const named of ['notes', body.app.id]) {
      expect((await gw.run(`app show ${named} --json`)).json.result.app).toEqual(body.app);
    }
    const list = await gw.run('app list');
    expect(list.stdout).toMatch(/^HANDLE +NAME +STATUS +ID\nnotes +Notes +active +/);
    expect((await gw.run('provider list')).stdout).toMatch(
      /^SLUG +TYPE +NAME +STATUS +ID\nopenai +openai +OpenAI +active/,
    );
  });

  it('missing ones → exit 2 that says how to find them', async () => {
    await connect();
    expect(errorOf(await gw.run('app show nothing --json'))).toEqual([2, 'app_not_found']);
    const { exitCode, stdout, stderr } = await gw.run('provider show nothing');
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain('gw provider list');
  });

  it('provider types → need no key', async () => {
    const { exitCode, json } = await gw.run('provider types --json', '', { GW_URL: world.baseUrl });
    expect(exitCode).toBe(0);
    expect(json.result.providers).toContainEqual(expect.objectContaining({ type: 'openai' }));
  });
});

describe('invalid commands', () => {
  it.each([
    ['provider lst', 'unknown command', 'List the commands: gw provider --help'],
    ['provider list --jsn', 'unknown option', 'See its options: gw provider list --help'],
    ['provider show', 'missing required argument', 'See its options: gw provider show --help'],
    ['provider show a b', 'too many arguments', 'See its options: gw provider show --help'],
    ['app key', 'a command is missing', 'List the commands: gw app key --help'],
    ['nothing', 'unknown command', 'List the commands: gw --help'],
  ])('gw %s → exit 2, on standard error, or in the document, and which help to read', async (line, message, next) => {
    const plain = await gw.runAsProcess(line);
    expect([plain.exitCode, plain.stdout]).toEqual([2, '']);
    expect(plain.stderr).toContain(message);
    expect(plain.stderr).toContain(next);
    const { exitCode, json, stderr } = await gw.run(`${line} --json`);
    expect([exitCode, stderr, json.error.code, json.error.nextAction]).toEqual([2, '', 'invalid_command', next]);
  });

  it.each([['--help'], ['provider --help'], ['provider show --help'], ['--version']])(
    'gw %s → exit 0',
    async (line) => {
      const { exitCode, stdout, stderr } = await gw.run(line);
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout.length).toBeGreaterThan(4);
    },
  );

  it('gw help of a command of several words → its own help, not that of the first word', async () => {
    const { stdout } = await gw.run('app key add --help');
    expect(stdout).toContain('Usage: gw app key add');
    expect((await gw.run('help app key add')).stdout).toBe(stdout);
  });

  it('gw --help → the URL of the documentation: of GW_URL, else of the profile, else none', async () => {
    expect((await gw.run('--help')).stdout).toContain('Documentation: <address of the gateway>/docs');
    await connect();
    expect((await gw.run('--help')).stdout).toContain(`Documentation: ${world.baseUrl}/docs`);
    const elsewhere = await gw.run('--help', '', { GW_URL: 'https://gateway.example' });
    expect(elsewhere.stdout).toContain('Documentation: https://gateway.example/docs');
  });

  it.each(['--json --profile default app list', 'app --no-input --json list', '--json account status'])(
    'gw %s → global options are accepted before the command as well',
    async (line) => {
      await connect();
      const { exitCode, json } = await gw.run(line);
      expect([exitCode, json.ok]).toEqual([0, true]);
    },
  );

  it('a command without its second word → its help on standard error, exit 2', async () => {
    const { exitCode, stdout, stderr } = await gw.run('provider');
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain('show');
  });
});
