import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import type { ApiClient } from '../../support/api-client.js';
import { Gw, type GwRun } from '../../support/gw/gw.js';
import { startWorld, type World } from '../../support/world.js';

let world: World;
let gw: Gw;
let api: ApiClient;
let key: string;
let account: string;
const SECRET = 'sk-of-a-provider-4711';

beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  ({ key, organizationId: account } = await newAccount(world.dataSource));
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
const remove = (name: string) => rmSync(join(gw.home, name), { recursive: true });
const run = (line: string, environment: Record<string, string> = {}) => gw.run(`${line} --json`, '', environment);
const apps = async () => (await api.get('/v1/admin/apps')).body.apps;
const configOf = async (handle: string, as = api) => {
  const { id } = (await as.get('/v1/admin/apps')).body.apps.find((app: { handle: string }) => app.handle === handle);
  return (await as.get(`/v1/admin/apps/${id}`)).body.app.config;
};

const variable = (name: string) => `\${${name}}`;
const CONFIG = `
  authentication: { type: api_key }
  routing: { providers: { mode: all }, model_rewrites: {} }
`;
const app = (handle: string, more = '') => `name: ${handle}\nhandle: ${handle}\n${more}config:${CONFIG}`;
const MOBILE = (handle: string, more = '') => `name: Journal
handle: ${handle}
${more}config:
  authentication:
    type: device_app_attest
    end_user: { source: app_install }
    app_attest: { team_id: ABCDE12345, bundle_id: com.example.journal }
  routing: { providers: { mode: all }, model_rewrites: {} }
`;

/** A directory with two environments. */
function writeAll(): void {
  write(
    'g/providers.yaml',
    'providers:\n  - { slug: openai, type: openai, name: OpenAI, secret: { env: OPENAI_KEY } }\n',
  );
  write(
    'g/apps/notes.yaml',
    `${app('notes')}  limits:\n    per_app:\n      requests:\n        per_day: ${variable('daily')}\n  endpoints:\n    sum: { provider: openai, model: "${variable('model')}", api_style: responses }\n`,
  );
  write('g/apps/lab.yaml', MOBILE('lab'));
  write('g/environments/staging.yaml', 'variables: { model: gpt-4.1-mini, daily: 50 }\n');
  write(
    'g/environments/production.yaml',
    `variables: { model: gpt-4.1, daily: 5000 }
apps:
  lab: null
  notes:
    name: Notes
    config: { limits: { per_app: { requests: { per_minute: 100 } } } }
providers:
  openai: { secret: { file: ${join(gw.home, 'production.key')} } }
`,
  );
}

describe('environments', () => {
  it('one directory, two environments → each as in its file', async () => {
    writeAll();
    const staging = await run('apply g --env staging --key-output keys', { OPENAI_KEY: SECRET });
    expect([staging.exitCode, staging.json.result.environment]).toEqual([0, 'staging']);
    expect((await configOf('notes')).limits.per_app.requests).toMatchObject({ per_day: 50 });
    const { key: other } = await newAccount(world.dataSource);
    write('production.key', `${SECRET}\n`);
    const production = await run('apply g --env production --key-output prod', { GW_MANAGEMENT_KEY: other });
    expect([production.exitCode, production.json.result.applied.map(({ name }: { name: string }) => name)]).toEqual([
      ...[0, ['openai', 'notes']],
    ]);
    const config = await configOf('notes', world.as(other));
    expect(config.limits.per_app.requests).toEqual({ per_day: 5000, per_minute: 100 });
    expect(config.endpoints.sum.model).toBe('gpt-4.1');
    for (const [name, as] of [
      ['staging', key],
      ['production', other],
    ] as const) {
      expect((await run(`plan g --check --env ${name}`, { GW_MANAGEMENT_KEY: as })).exitCode).toBe(0);
    }
  });

  it.each([
    ['plan g', 'environment_required', 'production, staging'],
    ['apply g', 'environment_required', 'production, staging'],
    ['plan g --env prod', 'environment_unknown', 'production, staging'],
    ['plan g --env ../../x', 'environment_unknown', 'production, staging'],
    ['export g', 'directory_has_environments', 'another directory'],
  ])('%s → exit 2 with %s', async (line, code, advice) => {
    writeAll();
    const refused = await run(line);
    expect([...errorOf(refused), refused.json.error.nextAction]).toEqual([2, code, expect.stringContaining(advice)]);
  });

  it('a directory without environments → its texts are used unchanged, and --env is refused', async () => {
    write(
      'g/apps/notes.yaml',
      app('notes').replace('name: notes', () => `name: "${variable('x')} $$"`),
    );
    expect((await run('apply g --key-output keys')).exitCode).toBe(0);
    expect((await apps())[0].name).toBe(`${variable('x')} $$`);
    expect(errorOf(await run('plan g --env production'))).toEqual([2, 'environment_unknown']);
  });

  it('problems of the environment and of the files → all at once, each with its own file, line and path', async () => {
    writeAll();
    write(
      'g/environments/staging.yaml',
      `variables: { model: m, unused: 1, 9x: 2 }
colour: red
url: nowhere
apps:
  nobody: { name: X }
  notes:
    handle: x
    status: odd
    config: { limits: { per_app: { requests: { per_minute: "${variable('nothing')}" } } } }
providers: { openai: { secret: sk-in-a-file } }
`,
    );
    write('g/apps/other.yaml', 'name: 7\nhandle: other\n');
    const { exitCode, json } = await run('plan g --env staging');
    expect(exitCode).toBe(2);
    const told = json.error.details.problems.map(
      ({ file, line, problem }: { file: string; line: number; problem: string }) => `${file}:${line}: ${problem}`,
    );
    const of = (place: string) => expect.stringContaining(place);
    expect(told).toEqual(
      expect.arrayContaining([
        of('environments/staging.yaml:2: colour: is not a known member'),
        of('environments/staging.yaml:3: url: must be the address'),
        of('environments/staging.yaml:1: variables.9x: must be letters'),
        of('environments/staging.yaml:7: apps.notes.handle: cannot differ by environment'),
        of('environments/staging.yaml:9: apps.notes.config.limits.per_app.requests.per_minute: the variable nothing'),
        of('apps/notes.yaml:9: config.limits.per_app.requests.per_day: the variable daily has no value'),
        of('environments/staging.yaml:8: apps.notes.status: must be active or disabled'),
        of('environments/staging.yaml:10: providers.openai.secret: names where the key is'),
        of('environments/staging.yaml:5: apps.nobody: is in no file; those that are: lab, notes, other'),
        of('environments/staging.yaml:1: variables.unused: is used in no file'),
        of('apps/other.yaml:1: name: must be text'),
        of('apps/other.yaml:1: config: is missing'),
      ]),
    );
    expect(JSON.stringify(json)).not.toContain('sk-in-a-file');
  });

  it('values of an overlay that the service refuses → reported at the overlay', async () => {
    writeAll();
    write(
      'g/environments/staging.yaml',
      'variables: { model: m, daily: 1 }\napps:\n  notes:\n    config: { limits: { per_app: { requests: { per_minute: -1 } } } }\n',
    );
    const { json } = await run('plan g --env staging');
    expect(json.error.message).toMatch(
      /^environments\/staging\.yaml:4: apps\.notes\.config\.limits\.per_app\.requests\.per_minute: /,
    );
  });

  it('another gateway, or another account, than the environment names → nothing is sent there', async () => {
    writeAll();
    write('g/environments/staging.yaml', 'url: https://gateway.example.com\nvariables: { model: m, daily: 1 }\n');
    const elsewhere = await run('plan g --env staging');
    expect([...errorOf(elsewhere), elsewhere.json.context.url]).toEqual([4, 'wrong_gateway', null]);
    write('g/environments/staging.yaml', `account: somebody\nvariables: { model: m, daily: 1 }\n`);
    expect(errorOf(await run('apply g --env staging'))).toEqual([4, 'wrong_account']);
    expect(await apps()).toEqual([]);
  });

  it('two saved gateways → the environment determines which one is used', async () => {
    writeAll();
    const { key: other, organizationId } = await newAccount(world.dataSource);
    const saved = { GW_MANAGEMENT_KEY: '', GW_URL: '' };
    for (const [name, of] of [
      ['live', other],
      ['test', key],
    ])
      await gw.run(`deployment connect --url ${world.baseUrl} --key-stdin --profile ${name}`, of, saved);
    write(
      'g/environments/production.yaml',
      `url: ${world.baseUrl}\naccount: ${organizationId}\n${read('g/environments/production.yaml')}`,
    );
    expect((await run('plan g --env production', saved)).json.context.accountId).toBe(organizationId);
    expect((await run('plan g --env staging', saved)).json.context.accountId).toBe(account);
    expect(errorOf(await run('plan g --env production --profile test', saved))).toEqual([4, 'wrong_account']);
    write('g/environments/production.yaml', read('g/environments/production.yaml').replace(organizationId, 'nobody'));
    expect(errorOf(await run('plan g --env production', saved))).toEqual([4, 'wrong_account']);
  });
});

describe('keys by reference', () => {
  it.each([
    ['{ env: GW_MANAGEMENT_KEY }', 'secret.env: is a key of the gateway itself'],
    ['{ env: A, file: /x }', 'secret: names either env or file'],
    ['{}', 'secret: names either env or file'],
    ['{ file: relative }', 'secret.file: must be an absolute path'],
    ['{ vault: x }', 'secret.vault: is not a known member'],
  ])('%s → exit 2', async (secret, problem) => {
    write('g/providers.yaml', `providers:\n  - { slug: openai, type: openai, name: O, secret: ${secret} }\n`);
    const { exitCode, json } = await run('plan g');
    expect([exitCode, json.error.message]).toEqual([2, expect.stringContaining(problem)]);
  });

  it('a missing or empty file → reported before anything is changed, without the content of any file', async () => {
    const path = join(gw.home, 'openai.key');
    write('g/providers.yaml', `providers:\n  - { slug: openai, type: openai, name: O, secret: { file: ${path} } }\n`);
    const missing = await run('apply g');
    expect([...errorOf(missing), missing.json.error.nextAction]).toEqual([
      ...[2, 'plan_blocked', expect.stringContaining(`Put the key into ${path}`)],
    ]);
    write('openai.key', '\n');
    expect(errorOf(await run('apply g'))).toEqual([2, 'secret_unreadable']);
    write('openai.key', `${SECRET}\n`);
    const [planned, applied] = [await run('plan g --out plan.json'), await run('apply g')];
    expect([planned.exitCode, applied.exitCode]).toEqual([0, 0]);
    expect(planned.stdout + applied.stdout + read('plan.json')).not.toContain(SECRET);
    expect((await api.get('/v1/admin/providers')).body.providers).toMatchObject([{ secretHint: '4711' }]);
  });
});

describe('slugs', () => {
  const providers = (slug: string, more = '') =>
    `providers:\n  - { slug: ${slug}, type: openai, name: OpenAI, secret: { env: OPENAI_KEY }${more} }\n`;
  const named = (provider: string) =>
    `${app('notes')}  endpoints:\n    sum: { provider: ${provider}, model: gpt-4.1-mini, api_style: responses }\n`;
  const changes = async (line: string) => {
    const { changes: all } = (await run(line, { OPENAI_KEY: SECRET })).json.result;
    return all.map(({ action, name }: { action: string; name: string }) => `${action} ${name}`);
  };
  const slugs = async () =>
    (await api.get('/v1/admin/providers')).body.providers.map(({ slug }: { slug: string }) => slug);

  it('moved → created with its key, applications changed, the old one removed last, even after a failure', async () => {
    write('g/providers.yaml', providers('openai-1'));
    write('g/apps/notes.yaml', named('openai-1'));
    await run('apply g --key-output keys', { OPENAI_KEY: SECRET });
    write('g/providers.yaml', providers('openai-2', ', moved: { from: openai-1 }'));
    write('g/apps/notes.yaml', named('openai-2'));
    expect(await changes('plan g')).toEqual(['create openai-2', 'update notes', 'remove openai-1']);
    const text = (await gw.run('plan g')).stdout;
    expect(text).toContain('It replaces openai-1, which is removed last: calls that use that slug must name openai-2.');
    await gw.run('plan g --out plan.json', '', { OPENAI_KEY: SECRET });
    const created = { type: 'openai', slug: 'openai-2', name: 'OpenAI', secret: SECRET };
    expect((await api.post('/v1/admin/providers', created)).status).toBe(201);
    expect((await run('apply plan.json', { OPENAI_KEY: SECRET })).json.error.code).toBe('plan_stale');
    expect(await changes('plan g')).toEqual(['update notes', 'remove openai-1']);
    const refused = await run('apply g');
    expect([refused.exitCode, await slugs()]).toEqual([2, ['openai-1', 'openai-2']]);
    expect((await run('apply g --yes')).exitCode).toBe(0);
    expect(await slugs()).toEqual(['openai-2']);
    expect((await configOf('notes')).endpoints.sum.provider).toBe('openai-2');
    expect((await run('plan g --check --prune')).exitCode).toBe(0);
  });

  it('a saved plan → names the slug that is used', async () => {
    write('g/providers.yaml', providers('openai-1'));
    write('g/apps/notes.yaml', named('openai-1'));
    await run('apply g --key-output keys', { OPENAI_KEY: SECRET });
    write('g/providers.yaml', providers('openai-2', ', moved: { from: openai-1 }'));
    write('g/apps/notes.yaml', named('openai-2'));
    await gw.run('plan g --out plan.json', '', { OPENAI_KEY: SECRET });
    expect((await run('apply plan.json', { OPENAI_KEY: SECRET })).exitCode).toBe(0);
    expect(await slugs()).toEqual(['openai-2']);
  });

  it.each([
    ['{ from: Open AI }', 'moved.from: must be 1 to 63'],
    ['{ from: openai-2 }', 'moved.from: "openai-2" is the slug of providers.yaml'],
  ])('moved: %s → exit 2', async (moved, problem) => {
    write('g/providers.yaml', providers('openai-2', `, moved: ${moved}`));
    const { exitCode, json } = await run('plan g');
    expect([exitCode, json.error.message]).toEqual([2, expect.stringContaining(problem)]);
  });
});

describe('handles', () => {
  it('moved → the application is renamed: same id, same keys', async () => {
    write('g/apps/notes.yaml', app('notes'));
    await run('apply g --key-output keys');
    const [{ id }] = await apps();
    write('g/apps/notes.yaml', app('diary', 'moved: { from: [jotter, notes] }\n'));
    const { json } = await run('plan g --prune');
    expect(json.result.changes).toMatchObject([
      { action: 'rename', name: 'diary', id, fields: [{ path: 'handle', before: 'notes', after: 'diary' }, {}] },
    ]);
    expect((await gw.run('plan g')).stdout).toContain('~ rename application notes as diary\n');
    expect((await run('apply g --prune')).exitCode).toBe(0);
    expect(await apps()).toMatchObject([{ id, handle: 'diary' }]);
    expect((await run('plan g --check --prune')).exitCode).toBe(0);
  });

  it('moved from a handle that nobody has → created', async () => {
    write('g/apps/notes.yaml', MOBILE('diary', 'moved: { from: notes }\n'));
    expect((await run('plan g')).json.result.changes).toMatchObject([{ action: 'create', name: 'diary' }]);
  });

  it.each([
    ['moved: notes', 'moved: must hold members'],
    ['moved: { from: Notes }', 'moved.from: must be 1 to 63'],
    ['moved: { from: [] }', 'moved.from: must be 1 to 63'],
    ['moved: { to: notes }', 'moved.to: is not a known member'],
    ['moved: { from: lab }', 'moved.from: "lab" is the handle of apps/lab.yaml'],
  ])('%s → exit 2', async (moved, problem) => {
    write('g/apps/lab.yaml', MOBILE('lab'));
    write('g/apps/notes.yaml', app('diary', `${moved}\n`));
    const { exitCode, json } = await run('plan g');
    expect([exitCode, json.error.message]).toEqual([2, expect.stringContaining(problem)]);
  });

  it('an application with the same name and no handle → adopted, with its id', async () => {
    const config = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };
    const { id } = (await api.post('/v1/admin/apps', { name: 'notes', config })).body.app;
    write('g/apps/notes.yaml', app('notes'));
    const { stdout } = await gw.run('plan g');
    expect(stdout).toContain(`~ adopt application ${id} as notes\n`);
    expect(stdout).toContain('0 to create, 0 to change, 1 to adopt, 0 to remove.');
    expect((await run('apply g')).json.result.applied).toMatchObject([{ action: 'adopt', id }]);
    expect(await apps()).toMatchObject([{ id, handle: 'notes' }]);
    expect((await run('plan g --check --prune')).exitCode).toBe(0);
  });

  it('two of them → says how to choose one', async () => {
    const config = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };
    for (let left = 2; left > 0; left--) await api.post('/v1/admin/apps', { name: 'notes', config });
    write('g/apps/notes.yaml', app('notes'));
    const { exitCode, json } = await run('plan g');
    expect([exitCode, json.error.nextAction]).toEqual([2, expect.stringMatching(/gw app update \S+ --handle notes/)]);
  });
});

describe('a saved plan', () => {
  beforeEach(async () => {
    writeAll();
    await run('apply g --env staging --key-output keys', { OPENAI_KEY: SECRET });
    write('g/environments/staging.yaml', 'variables: { model: gpt-4.1-mini, daily: 70 }\n');
    expect((await run('plan g --env staging --out plan.json')).json.result.savedPlan).toBe('plan.json');
  });

  it('→ applied without a question, even if the files have changed since', async () => {
    remove('g');
    const { exitCode, json } = await run('apply plan.json');
    expect([exitCode, json.result]).toMatchObject([0, { applied: [{ name: 'notes' }], environment: 'staging' }]);
    expect((await configOf('notes')).limits.per_app.requests.per_day).toBe(70);
    expect(errorOf(await run('apply plan.json'))).toEqual([4, 'plan_stale']);
  });

  it('with removals → applied without --yes', async () => {
    remove('g/apps/lab.yaml');
    await run('plan g --env staging --prune --out plan.json');
    const { json } = await run('apply plan.json');
    expect(json.result.applied.map(({ action }: { action: string }) => action)).toEqual(['update', 'remove']);
  });

  const changes: readonly (readonly [string, () => Promise<unknown>, string])[] = [
    [
      'an application that it reads is changed',
      async () => {
        const lab = (await apps()).find(({ handle }: { handle: string }) => handle === 'lab');
        const { app: stored } = (await api.get(`/v1/admin/apps/${lab.id}`)).body;
        return api.put(`/v1/admin/apps/${lab.id}`, { name: 'Other', config: stored.config, revision: stored.revision });
      },
      'application lab was changed',
    ],
    [
      'a provider is changed',
      async () => {
        const [{ id, revision }] = (await api.get('/v1/admin/providers')).body.providers;
        return api.put(`/v1/admin/providers/${id}`, { name: 'Other', revision });
      },
      'provider openai was changed',
    ],
    [
      'an application is added',
      () =>
        api.post('/v1/admin/apps', {
          ...{ name: 'New', handle: 'new' },
          config: { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } },
        }),
      'application new was added',
    ],
    [
      'a provider gateway is added',
      () => api.post('/v1/admin/provider-gateways', { type: 'vercel', name: 'edge', token: 'token-of-the-edge' }),
      'provider gateway edge was added',
    ],
  ];
  it.each(changes)('%s meanwhile → refused, and says so; nothing is changed', async (_what, change, move) => {
    await change();
    const { exitCode, json } = await run('apply plan.json');
    expect([exitCode, json.error.code, json.error.message]).toEqual([4, 'plan_stale', expect.stringContaining(move)]);
    expect((await configOf('notes')).limits.per_app.requests.per_day).toBe(50);
  });

  it('with the key of another account → refused', async () => {
    const { key: other } = await newAccount(world.dataSource);
    expect(errorOf(await run('apply plan.json', { GW_MANAGEMENT_KEY: other }))).toEqual([4, 'wrong_account']);
  });

  it('of another gateway → refused before a key is sent', async () => {
    write('plan.json', read('plan.json').replace(world.baseUrl, 'https://gateway.example.com'));
    const refused = await run('apply plan.json');
    expect([...errorOf(refused), refused.json.context.url]).toEqual([4, 'wrong_gateway', null]);
  });

  it('changed by hand → refused', async () => {
    write('plan.json', read('plan.json').replace('"per_day": 70', '"per_day": 71'));
    expect(errorOf(await run('apply plan.json'))).toEqual([4, 'plan_stale']);
    write('plan.json', read('plan.json').replace('"handle": "notes"', '"handle": "../x"'));
    expect(errorOf(await run('apply plan.json'))).toEqual([2, 'invalid_configuration']);
  });

  it.each([
    ['{}', 2, 'invalid_configuration'],
    ['[]', 2, 'invalid_configuration'],
    ['no json', 2, 'invalid_configuration'],
    ['{"format": "gw plan", "version": 2}', 2, 'invalid_configuration'],
    ['{"format": "gw plan", "version": 1}', 2, 'invalid_configuration'],
  ])('%s → exit %i', async (text, exitCode, code) => {
    write('plan.json', text);
    expect(errorOf(await run('apply plan.json'))).toEqual([exitCode, code]);
  });

  it.each(['--env staging', '--prune'])('with %s → refused: the plan contains it', async (option) => {
    expect(errorOf(await run(`apply plan.json ${option}`))).toEqual([2, 'invalid_option']);
  });

  it('a place that cannot be written → exit 2', async () => {
    expect(errorOf(await run('plan g --env staging --out nowhere/plan.json'))).toEqual([2, 'plan_unwritable']);
  });

  it('as Markdown → a document for a comment', async () => {
    const { stdout } = await gw.run('plan g --env staging --format markdown');
    expect(stdout).toContain(
      '### gw plan: staging\n\n0 to create, 1 to change, 0 to remove.\n\n```diff\n! update application notes\n',
    );
    expect(stdout).toContain('Requests per day: 50 becomes 70, for the application as a whole.');
  });
});

describe('gw validate', () => {
  it('without a gateway and a key → every environment', async () => {
    writeAll();
    const { exitCode, json } = await run('validate g', { GW_URL: '', GW_MANAGEMENT_KEY: '' });
    expect([exitCode, json.result]).toEqual([0, { environments: ['production', 'staging'], apps: 2, providers: 1 }]);
    expect((await gw.run('validate g --env staging')).stdout).toContain(
      'Valid: 2 applications and 1 provider in staging.',
    );
  });

  it('problems of both environments and of the configuration → all at once, each once', async () => {
    writeAll();
    write('g/environments/staging.yaml', 'variables: { model: m }\n');
    write('g/environments/production.yaml', 'variables: { model: m, daily: many }\napps: { nobody: null }\n');
    write('g/apps/lab.yaml', MOBILE('lab').replace('end_user', 'endd_user'));
    write('g/apps/broken.yaml', 'name: "X\n');
    const { exitCode, json } = await run('validate g', { GW_URL: '', GW_MANAGEMENT_KEY: '' });
    expect([exitCode, json.error.message.split('\n')]).toEqual([
      2,
      [
        expect.stringMatching(/^apps\/broken\.yaml:\d: Missing closing/),
        expect.stringMatching(/^apps\/lab\.yaml:\d: config\.authentication\.\w+: is/),
        expect.stringMatching(/^apps\/lab\.yaml:\d: config\.authentication\.\w+: is/),
        'apps/notes.yaml:9: config.limits.per_app.requests.per_day: must be a whole number or null',
        expect.stringContaining(
          'apps/notes.yaml:9: config.limits.per_app.requests.per_day: the variable daily has no value',
        ),
      ],
    ]);
    remove('g/apps/broken.yaml');
    expect((await run('validate g')).json.error.message).toContain(
      'apps.nobody: is in no file; those that are: lab, notes',
    );
  });
});

describe('two environments from one directory, on a terminal', () => {
  it('log in to both, then one command for each → both match the files', async () => {
    writeAll();
    const { key: other, organizationId } = await newAccount(world.dataSource);
    write('production.key', `${SECRET}\n`);
    const target = (of: string) => `url: ${world.baseUrl}\naccount: ${of}\n`;
    write('g/environments/staging.yaml', `${target(account)}${read('g/environments/staging.yaml')}`);
    write('g/environments/production.yaml', `${target(organizationId)}${read('g/environments/production.yaml')}`);
    const alone = { GW_URL: '', GW_MANAGEMENT_KEY: '', OPENAI_KEY: SECRET };
    for (const [name, of] of [
      ['live', other],
      ['test', key],
    ])
      await gw.run(`deployment connect --url ${world.baseUrl} --key-stdin --profile ${name}`, of, alone);
    let acts = 0;
    for (const environment of ['staging', 'production']) {
      const session = gw.onTerminal(`apply g --env ${environment} --key-output keys-${environment}`, alone);
      acts++;
      await session.shows('Make these');
      session.type('y');
      acts++;
      expect(await session.ended).toBe(0);
    }
    expect(acts).toBe(4);
    expect((await configOf('notes')).endpoints.sum.model).toBe('gpt-4.1-mini');
    expect((await configOf('notes', world.as(other))).endpoints.sum.model).toBe('gpt-4.1');
  });
});
