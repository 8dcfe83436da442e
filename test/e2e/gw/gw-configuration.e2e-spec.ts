import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import type { ApiClient } from '../../support/api-client.js';
import { Gw, type GwRun } from '../../support/gw/gw.js';
import { losing } from '../../support/gw/lossy-proxy.js';
import { startWorld, type World } from '../../support/world.js';

let world: World;
let gw: Gw;
let api: ApiClient;
const SECRET = { GW_PROVIDER_SECRET_OPENAI: 'sk-of-a-provider-4711' };

beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  const { key } = await newAccount(world.dataSource);
  api = world.as(key);
  gw = new Gw({ GW_URL: world.baseUrl, GW_MANAGEMENT_KEY: key });
});
afterEach(() => gw.remove());
afterAll(() => world.stop());

const errorOf = ({ exitCode, json }: GwRun) => [exitCode, json?.error?.code];
const write = (name: string, text: string) => {
  mkdirSync(join(gw.home, name, '..'), { recursive: true });
  writeFileSync(join(gw.home, name), text);
};
const read = (name: string) => readFileSync(join(gw.home, name), 'utf8');
const apply = (flags = '', environment: Record<string, string> = {}) =>
  gw.run(`apply g --key-output keys --json ${flags}`, '', environment);
const plan = (flags = '') => gw.run(`plan g --json ${flags}`);

const PROVIDERS = 'providers:\n  - slug: openai\n    type: openai\n    name: OpenAI\n';
const SERVER = `
  authentication: { type: api_key, end_user: { source: header } }
  routing: { providers: { mode: selected, selected: { openai: { allowed_paths: [], allowed_models: [gpt-4.1-mini] } } }, model_rewrites: {} }
`;
const server = (handle: string, config = SERVER) => `name: ${handle}\nhandle: ${handle}\nconfig:${config}`;
const MOBILE = `name: Journal
handle: journal
config:
  authentication:
    type: device_app_attest
    end_user: { source: app_install }
    app_attest: { team_id: ABCDE12345, bundle_id: com.example.journal }
  routing: { providers: { mode: all }, model_rewrites: {} }
  limits:
    per_user: { requests: { per_minute: 10, per_day: 300 } }
`;

/** A directory with a provider, a server and a mobile application. */
function writeAll(): void {
  write('g/providers.yaml', PROVIDERS);
  write('g/apps/notes.yaml', server('notes'));
  write('g/apps/journal.yaml', MOBILE);
}

/** Contents of all files in a folder. */
const contentsOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(join(gw.home, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path.slice(join(gw.home, folder).length), readFileSync(path, 'utf8')];
      }),
  );

describe('gw apply', () => {
  it('an empty account → providers, applications and first keys; again → no change', async () => {
    writeAll();
    const applied = await apply('', SECRET);
    expect([applied.exitCode, applied.json.result.applied.map(({ name }: { name: string }) => name)]).toEqual([
      ...[0, ['openai', 'journal', 'notes']],
    ]);
    expect(applied.json.result.keyFiles).toEqual([join(gw.home, 'keys/notes.key')]);
    expect(read('keys/notes.key')).toMatch(/^gw_\w+\n$/);
    expect((await plan('--check')).exitCode).toBe(0);
    expect((await apply()).json.result).toEqual({ applied: [], keyFiles: [], environment: null });
  });

  it('for people → prints the plan and the result', async () => {
    writeAll();
    const { stdout } = await gw.run('apply g --key-output keys', '', SECRET);
    expect(stdout).toContain('+ create provider openai\n');
    expect(stdout).toContain('+ created provider openai\n+ created application journal\n+ created application notes\n');
    expect(stdout).toContain('Done: 3 changes.');
  });

  it('export → the same account from the files, byte for byte', async () => {
    writeAll();
    await apply('', SECRET);
    await api.post('/v1/admin/apps', {
      ...{ name: 'Without a handle: "quoted" # text', status: 'disabled' },
      config: { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } },
    });
    expect((await gw.run('export first --json')).exitCode).toBe(0);
    expect(read('first/apps/journal.yaml')).toMatch(
      /^# yaml-language-server: \$schema=\.\.\/schemas\/app\.schema\.json\n/,
    );
    const { key } = await newAccount(world.dataSource);
    const other = { GW_MANAGEMENT_KEY: key, ...SECRET };
    expect((await gw.run('apply first --key-output keys2 --json', '', other)).exitCode).toBe(0);
    expect((await gw.run('export second --json', '', other)).exitCode).toBe(0);
    expect(contentsOf('second')).toEqual(contentsOf('first'));
    expect((await gw.run('plan first --check --json')).exitCode).toBe(0);
    expect(JSON.stringify(contentsOf('first'))).not.toContain('sk-of-a-provider');
  });

  it('without the provider’s key, or a file for first keys → refused before anything is changed', async () => {
    writeAll();
    const withoutKey = await apply();
    expect(errorOf(withoutKey)).toEqual([2, 'plan_blocked']);
    expect(withoutKey.json.error.nextAction).toContain('GW_PROVIDER_SECRET_OPENAI');
    expect(errorOf(await gw.run('apply g --json', '', SECRET))).toEqual([2, 'plan_blocked']);
    write('keys/notes.key', 'mine');
    expect(errorOf(await apply('', SECRET))).toEqual([2, 'plan_blocked']);
    expect(read('keys/notes.key')).toBe('mine');
    expect((await api.get('/v1/admin/providers')).body.providers).toEqual([]);
    expect((await api.get('/v1/admin/apps')).body.apps).toEqual([]);
  });

  it('an application that the service refuses → reported with file and line, nothing is changed', async () => {
    writeAll();
    write('g/apps/notes.yaml', `${server('notes')}  limits:\n    per_user: { requests: { per_day: -1 } }\n`);
    const refused = await apply('', SECRET);
    expect(errorOf(refused)).toEqual([2, 'invalid_configuration']);
    expect(refused.json.error.message).toMatch(/^apps\/notes\.yaml:7: config\.limits\.per_user\.requests\.per_day: /);
    expect((await api.get('/v1/admin/providers')).body.providers).toEqual([]);
  });

  it('removes resources that the directory does not own only with --prune', async () => {
    writeAll();
    await apply('', SECRET);
    rmSync(join(gw.home, 'g/apps/journal.yaml'));
    expect((await plan()).json.result).toMatchObject({ changes: [], unowned: { apps: ['journal'], providers: [] } });
    expect((await apply()).json.result.applied).toEqual([]);
    expect(errorOf(await apply('--prune'))).toEqual([2, 'confirmation_required']);
    const pruned = await apply('--prune --yes');
    expect(pruned.json.result.applied).toMatchObject([{ action: 'remove', name: 'journal' }]);
    rmSync(join(gw.home, 'g/apps/notes.yaml'));
    rmSync(join(gw.home, 'g/providers.yaml'));
    expect(errorOf(await apply('--prune --yes'))).toEqual([2, 'directory_empty']);
    expect((await api.get('/v1/admin/apps')).body.total).toBe(1);
  });

  it('without providers.yaml → providers are not touched, even with --prune', async () => {
    writeAll();
    await apply('', SECRET);
    rmSync(join(gw.home, 'g/providers.yaml'));
    expect((await apply('--prune --yes')).json.result.applied).toEqual([]);
    expect((await api.get('/v1/admin/providers')).body.providers).toHaveLength(1);
  });

  it('two at once → one state, no duplicates', async () => {
    writeAll();
    const runs = await Promise.all([
      gw.run('apply g --key-output keys --json', '', SECRET),
      gw.run('apply g --key-output keys2 --json', '', { ...SECRET, XDG_STATE_HOME: join(gw.home, 'other') }),
    ]);
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect((await api.get('/v1/admin/apps')).body.total).toBe(2);
    expect((await api.get('/v1/admin/providers')).body.providers).toHaveLength(1);
    expect(runs.flatMap(({ json }) => json.result.keyFiles)).toHaveLength(1);
    expect((await plan('--check')).exitCode).toBe(0);
  });

  it('an application that somebody else creates during the comparison → compared again', async () => {
    writeAll();
    let hasCreated = false;
    const racing = await losing(
      world.baseUrl,
      () => false,
      async (method, path) => {
        if (hasCreated || method !== 'POST' || !path.startsWith('/v1/admin/apps/validate?include')) return;
        hasCreated = true;
        expect((await gw.run('apply g --key-output theirs --json', '', SECRET)).exitCode).toBe(0);
      },
    );
    const late = await apply('', { ...SECRET, GW_URL: racing.url });
    expect([late.exitCode, late.json.result]).toEqual([0, { applied: [], keyFiles: [], environment: null }]);
    expect((await api.get('/v1/admin/apps')).body.total).toBe(2);
    await racing.close();
  });

  it('a provider behind a provider gateway → found by the name of the gateway; its route can be changed and removed', async () => {
    const gateway = { type: 'vercel', name: 'edge', token: 'token-of-the-edge' };
    const behind = (route: string) =>
      `providers:\n  - { slug: openai, type: openai, name: OpenAI, providerGateway: edge${route} }\n`;
    write('g/providers.yaml', behind(', gatewayRoute: { providerOnly: [azure] }'));
    const blocked = await apply();
    expect([errorOf(blocked), blocked.json.error.nextAction]).toEqual([
      ...[[2, 'plan_blocked'], 'Add it: gw provider-gateway add --name edge'],
    ]);
    await api.post('/v1/admin/provider-gateways', gateway);
    expect((await apply()).exitCode).toBe(0);
    const routes = async () => (await api.get('/v1/admin/providers')).body.providers[0].gatewayRoute;
    expect(await routes()).toEqual({ providerOnly: ['azure'] });
    expect((await gw.run('export e --json')).exitCode).toBe(0);
    expect(read('e/providers.yaml')).toContain('providerGateway: edge');
    for (const [route, stored] of [
      [', gatewayRoute: { providerOnly: [openai] }', { providerOnly: ['openai'] }],
      ['', {}],
    ] as const) {
      write('g/providers.yaml', behind(route));
      expect((await apply()).exitCode).toBe(0);
      expect((await routes()) ?? {}).toEqual(stored);
      expect((await plan('--check')).exitCode).toBe(0);
    }
  });

  it('the answer of a creation is lost → the next run collects the key, and creates nothing twice', async () => {
    writeAll();
    let isLost = true;
    const lossy = await losing(
      world.baseUrl,
      (method, path) => isLost && method === 'POST' && path === '/v1/admin/apps',
    );
    const environment = { ...SECRET, GW_URL: lossy.url };
    expect(errorOf(await apply('', environment))).toEqual([3, 'unreachable']);
    isLost = false;
    for (let left = 2; left > 0; left--) expect((await apply('', environment)).exitCode).toBe(0);
    await lossy.close();
    const { apps, total } = (await api.get('/v1/admin/apps')).body;
    expect(total).toBe(2);
    const notes = apps.find(({ handle }: { handle: string }) => handle === 'notes');
    const { keys } = (await api.get(`/v1/admin/apps/${notes.id}/keys`)).body;
    expect(keys).toHaveLength(1);
    expect(read('keys/notes.key').startsWith(keys[0].key_prefix)).toBe(true);
  });

  it.each([1, 2, 3, 4, 5])(
    'the network is cut at write %i → run again, it ends in the state of the files',
    async (cutAt) => {
      writeAll();
      write('g/apps/third.yaml', server('third'));
      let writes = 0;
      const isWrite = (method: string, path: string) => ['POST', 'PUT'].includes(method) && !path.includes('validate');
      const lossy = await losing(world.baseUrl, (method, path) => isWrite(method, path) && ++writes === cutAt);
      const environment = { ...SECRET, GW_URL: lossy.url };
      const first = await apply('', environment);
      expect(first.exitCode).toBe(cutAt <= 4 ? 3 : 0);
      expect((await apply('', environment)).exitCode).toBe(0);
      await lossy.close();
      expect((await plan('--check')).exitCode).toBe(0);
      expect([read('keys/notes.key'), read('keys/third.key')]).toEqual([
        expect.stringMatching(/^gw_/),
        expect.stringMatching(/^gw_/),
      ]);
      expect((await api.get('/v1/admin/apps')).body.total).toBe(3);
    },
  );

  it('a revision that moves in between → exit 4, the other’s changes stay', async () => {
    writeAll();
    await apply('', SECRET);
    write('g/apps/notes.yaml', server('notes').replace('name: notes', 'name: Mine'));
    const id = (await api.get('/v1/admin/apps')).body.apps.find(
      ({ handle }: { handle: string }) => handle === 'notes',
    ).id;
    const { app } = (await api.get(`/v1/admin/apps/${id}`)).body;
    const racing = await losing(
      world.baseUrl,
      () => false,
      async (method, path) => {
        if (method !== 'PUT' || !path.endsWith(id)) return;
        await api.put(`/v1/admin/apps/${id}`, { name: 'Theirs', config: app.config, revision: app.revision });
      },
    );
    expect(errorOf(await apply('', { GW_URL: racing.url }))).toEqual([4, 'app_revision_conflict']);
    expect((await api.get(`/v1/admin/apps/${id}`)).body.app.name).toBe('Theirs');
    await racing.close();
  });
});

describe('gw plan', () => {
  beforeEach(async () => {
    writeAll();
    await apply('', SECRET);
  });

  it('--check → exit code 1 on a difference, and what it means', async () => {
    write('g/apps/notes.yaml', server('notes').replace('gpt-4.1-mini', 'gpt-4.1'));
    write('g/apps/journal.yaml', `${MOBILE.replace('per_day: 300', 'per_day: 100').replace('journal }', 'diary }')}`);
    const changed = await plan('--check');
    expect(changed.exitCode).toBe(1);
    const meaning = changed.json.result.changes.flatMap((change: { meaning: string[] }) => change.meaning);
    expect(meaning).toEqual([
      'Devices of the previous app lose access (0 users).',
      'Requests per day: 300 becomes 100, for each of 0 users.',
      'Through openai, calls of gpt-4.1-mini are refused.',
      'Through openai, calls of gpt-4.1 are allowed.',
    ]);
    const { stdout } = await gw.run('plan g');
    expect(stdout).toContain('~ update application journal');
    expect(stdout).toContain('~ config.limits.per_user.requests.per_day: 300 -> 100');
  });

  it('origins → which pages may call, and which no longer may', async () => {
    const listing = (...origins: string[]) =>
      write('g/apps/notes.yaml', `${server('notes')}\n  allowed_origins: ${JSON.stringify(origins)}\n`);
    const meaning = async () =>
      (await plan()).json.result.changes.flatMap((change: { meaning: string[] }) => change.meaning);
    listing('https://old.example.com', 'https://app.example.com');
    expect(await meaning()).toEqual([
      'Pages of https://old.example.com may call.',
      'Pages of https://app.example.com may call.',
    ]);
    await apply('', SECRET);
    expect(await meaning()).toEqual([]);
    listing('https://app.example.com', 'capacitor://localhost');
    expect(await meaning()).toEqual([
      'Pages of https://old.example.com cannot call any more.',
      'Pages of capacitor://localhost may call.',
    ]);
  });

  it('a status and a provider that is disabled → who loses access, even if no file names the provider', async () => {
    const routing = { providers: { mode: 'all' }, model_rewrites: {} };
    const everything = {
      name: 'Everything',
      handle: 'everything',
      config: { authentication: { type: 'api_key' }, routing },
    };
    expect((await api.post('/v1/admin/apps', everything)).status).toBe(201);
    write('g/apps/notes.yaml', server('notes').replace('handle:', 'status: disabled\nhandle:'));
    write('g/providers.yaml', `${PROVIDERS}    status: disabled\n`);
    const meaning = (await plan()).json.result.changes.flatMap((change: { meaning: string[] }) => change.meaning);
    expect(meaning).toEqual([
      'Its calls fail. It is reached by everything, journal, notes.',
      'Every caller loses access (0 users).',
    ]);
  });

  it('users added to an application, with a ceiling → every caller loses access, and what is refused', async () => {
    write('g/apps/other.yaml', server('other', SERVER.replace(', end_user: { source: header }', '')));
    expect((await apply()).exitCode).toBe(0);
    const ceiling = SERVER.replace('allowed_paths', 'max_output_tokens: 100, allowed_paths');
    write('g/apps/other.yaml', server('other', ceiling));
    expect((await plan()).json.result.changes).toMatchObject([
      {
        meaning: [
          'Every caller loses access until it names its user.',
          'Calls without the user in the header x-end-user-id are refused.',
          'Through openai, calls that ask for more than 100 output tokens are refused (ceiling before: none).',
        ],
      },
    ]);
  });

  it('an added application and provider → who may call them, and within which bounds', async () => {
    write('g/apps/other.yaml', server('other'));
    write('g/providers.yaml', `${PROVIDERS}  - slug: claude\n    type: anthropic\n    name: Claude\n`);
    const meaning = (await plan()).json.result.changes.flatMap((change: { meaning: string[] }) => change.meaning);
    expect(meaning).toEqual([
      'Applications that reach every provider, or every provider of its type, may call it at once.',
      'Its key is read from the variable GW_PROVIDER_SECRET_CLAUDE.',
      'Anyone with its key may call it.',
      'Calls without the user in the header x-end-user-id are refused.',
      'Calls may reach openai alone.',
      'Through openai, calls of everything but gpt-4.1-mini are refused.',
      'It has no limit on requests or spending.',
    ]);
  });

  it('removed prices → which models the catalog prices, and which become unpriced', async () => {
    const prices = '    pricing: { gpt-4.1: { input: 1, output: 2 }, own: { input: 1, output: 2 } }\n';
    write('g/providers.yaml', `${PROVIDERS}${prices}`);
    expect((await apply()).exitCode).toBe(0);
    write('g/providers.yaml', PROVIDERS);
    expect((await plan()).json.result.changes).toMatchObject([
      { meaning: ['gpt-4.1 gets the catalog price.', 'own becomes unpriced: its calls are refused.'] },
    ]);
  });

  it('on a terminal → coloured by sign; with NO_COLOR → not', async () => {
    rmSync(join(gw.home, 'g/apps/notes.yaml'));
    write('g/apps/other.yaml', server('other'));
    const [coloured, plain] = [gw.onTerminal('plan g'), gw.onTerminal('plan g', { NO_COLOR: '1' })];
    expect([await coloured.ended, await plain.ended]).toEqual([0, 0]);
    expect(coloured.written).toContain('\u001b[32m+ create application other');
    expect(plain.written).not.toContain('\u001b[3');
    expect(plain.screen).toContain('+ create application other');
  });

  it('a missing provider → the command that adds it', async () => {
    write('g/providers.yaml', `${PROVIDERS}  - slug: claude\n    type: anthropic\n    name: Claude\n`);
    const { exitCode, json } = await plan();
    expect([exitCode, json.result.missing[0].nextAction]).toEqual([
      ...[0, 'Set GW_PROVIDER_SECRET_CLAUDE, or use: gw provider add --type anthropic --slug claude'],
    ]);
  });

  it.each([
    ['apps/x.yaml', 'name: X\nhandle: x\n', 'apps/x.yaml:1: config: is missing'],
    ['apps/x.yaml', 'name: X\nhandle: X\nconfig: {}\n', 'apps/x.yaml:2: handle: must be'],
    ['apps/x.yaml', server('notes'), 'apps/x.yaml:2: handle: "notes" is also that of apps/notes.yaml'],
    [
      'apps/x.yaml',
      'name: X\nhandle: x\nconfig: {}\ncolour: red\n',
      'apps/x.yaml:4: colour: is not a known member; use',
    ],
    ['apps/x.yaml', 'name: "X\n', 'apps/x.yaml:2: Missing closing'],
    ['apps/x.yaml', 'name: X\nname: Y\n', 'apps/x.yaml:2: Map keys must be unique'],
    ['apps/x.yaml', 'name: !!js/function "x"\n', 'apps/x.yaml:1: Unresolved tag'],
    ['apps/x.yaml', '', 'apps/x.yaml:1: must hold members'],
    ['providers.yaml', 'providers: 7\n', 'providers.yaml:1: providers: must be a list'],
    [
      'providers.yaml',
      `${PROVIDERS}    secret: sk\n`,
      'providers.yaml:5: providers.0.secret: names where the key is, never the key itself',
    ],
    [
      'providers.yaml',
      `${PROVIDERS}  - { slug: x, type: nobody, name: X }\n`,
      'providers.yaml:5: providers.1.type: must be one of',
    ],
    [
      'providers.yaml',
      PROVIDERS.replace('type: openai', 'type: anthropic'),
      'providers.yaml:3: providers.0.type: cannot change',
    ],
    ['providers.yaml', `${PROVIDERS}    baseUrl: http://10.0.0.1/\n`, 'providers.yaml:5: providers.0.baseUrl: '],
  ])('%s: %j → exit 2 with the place', async (name, text, message) => {
    write(`g/${name}`, text);
    const { exitCode, json } = await plan();
    expect([exitCode, json.error.message.slice(0, message.length)]).toEqual([2, message]);
  });

  it('several problems in several files → all of them at once, one per line', async () => {
    write('g/apps/x.yaml', 'name: 7\nhandle: X\ncolour: red\n');
    write('g/apps/y.yaml', 'name: "X\n');
    write('g/providers.yaml', 'providers:\n  - { slug: a, name: A }\n  - { slug: b, type: openai, colour: red }\n');
    const { exitCode, json } = await plan();
    expect([exitCode, json.error.code]).toEqual([2, 'invalid_configuration']);
    const places = json.error.details.problems.map(({ file, problem }: { file: string; problem: string }) =>
      [file, problem.split(':')[0]].join(' '),
    );
    expect(places.filter((place: string) => !place.startsWith('apps/y.yaml'))).toEqual([
      'providers.yaml providers.0.type',
      'providers.yaml providers.1.colour',
      'providers.yaml providers.1.name',
      'apps/x.yaml colour',
      'apps/x.yaml handle',
      'apps/x.yaml name',
      'apps/x.yaml config',
    ]);
    expect(places.some((place: string) => place.startsWith('apps/y.yaml'))).toBe(true);
    expect(json.error.message.split('\n').length).toBeGreaterThanOrEqual(8);
  });

  it('several refusals of the service → all of them, and no application is blamed for a refused provider', async () => {
    write('g/providers.yaml', `${PROVIDERS}  - { slug: claude, type: nobody, name: X }\n`);
    const policy = '{ claude: { allowed_paths: [], allowed_models: [] } }';
    write('g/apps/x.yaml', server('x', SERVER.replace(/\{ openai: .*\[gpt-4.1-mini\] \} \}/, policy)));
    write('g/apps/y.yaml', `${server('y')}  limits:\n    per_user: { requests: { per_day: -1 } }\n`);
    write('g/apps/z.yaml', `${server('z')}  limits:\n    per_user: { requests: { per_day: -2 } }\n`);
    const { json } = await plan();
    const files = json.error.details.problems.map(({ file }: { file: string }) => file);
    expect(files).toEqual(['providers.yaml', 'apps/y.yaml', 'apps/z.yaml']);
  });

  it('an alias bomb → exit 2', async () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(9)}]`,
    );
    write('g/apps/x.yaml', `l0: &l0 [x]\n${levels.join('\n')}\n`);
    expect((await plan()).exitCode).toBe(2);
  });

  it('symbolic links out of the directory → not followed', async () => {
    write('outside/notes.yaml', server('outside'));
    symlinkSync(join(gw.home, 'outside/notes.yaml'), join(gw.home, 'g/apps/link.yaml'));
    expect(errorOf(await plan())).toEqual([2, 'link_outside']);
    rmSync(join(gw.home, 'g/apps'), { recursive: true });
    symlinkSync(join(gw.home, 'outside'), join(gw.home, 'g/apps'));
    expect(errorOf(await plan())).toEqual([2, 'link_outside']);
    expect(errorOf(await gw.run('export g --json'))).toEqual([2, 'link_outside']);
  });

  it('symbolic links within the directory → followed', async () => {
    cpSync(join(gw.home, 'g/apps/notes.yaml'), join(gw.home, 'g/notes-source'));
    rmSync(join(gw.home, 'g/apps/notes.yaml'));
    symlinkSync('../notes-source', join(gw.home, 'g/apps/notes.yaml'));
    expect((await plan('--check')).exitCode).toBe(0);
  });

  it.each([['nowhere'], ['g/providers.yaml']])('%s is not a directory → exit 2', async (path) => {
    expect(errorOf(await gw.run(`plan ${path} --json`))).toEqual([2, 'directory_unreadable']);
  });

  it('a directory that cannot be written → exit 2', async () => {
    expect(errorOf(await gw.run('export g/providers.yaml/x --json'))).toEqual([2, 'directory_unwritable']);
  });
});
