import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount, newMember } from '../../support/accounts/accounts.js';
import type { ApiClient } from '../../support/api-client.js';
import { anAuthEvent, recordAuthEvents } from '../../support/client-auth/exchange/auth-events.js';
import { Gw, type GwRun } from '../../support/gw/gw.js';
import { useApp } from '../../support/users/users.js';
import { startWorld, type World } from '../../support/world.js';

const CONFIG = {
  authentication: { type: 'api_key', end_user: { source: 'header' } },
  routing: { providers: { mode: 'all' }, model_rewrites: {} },
};
let world: World;
let gw: Gw;
let api: ApiClient;
let organizationId: string;
let identityId: string;
let app: string;
let consoleOrigin: string;

beforeAll(async () => {
  world = await startWorld();
  ({ consoleOrigin } = (await world.api.get('/v1/cli/capabilities')).body);
});
beforeEach(async () => {
  const account = await newAccount(world.dataSource);
  ({ organizationId, identityId } = account);
  api = world.as(account.key);
  gw = new Gw({ GW_URL: world.baseUrl, GW_MANAGEMENT_KEY: account.key });
  app = (await api.post('/v1/admin/apps', { name: 'Notes', handle: 'notes', config: CONFIG })).body.app.id;
});
afterEach(() => gw.remove());
afterAll(() => world.stop());

const errorOf = ({ exitCode, json: document }: GwRun) => [exitCode, document?.error?.code];
const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);
const use = (user: string, firstAt: string) => useApp(world.dataSource, { id: app, organizationId }, user, { firstAt });
/** Another account has nothing of this one. */
async function ofAnother(line: string): Promise<GwRun> {
  const { key } = await newAccount(world.dataSource);
  return gw.run(`${line} --json`, '', { GW_MANAGEMENT_KEY: key });
}

describe('gw app user', () => {
  it('list → the most recently active first; pages of any size, with a note that is not part of piped output', async () => {
    const users = Array.from({ length: 5 }, (_, index) => `user-${index}`);
    for (const [index, user] of users.entries()) await use(user, `2026-01-0${index + 1}T00:00:00Z`);
    const { json: all } = await gw.run('app user list notes --json');
    expect(idsOf(all.result.users)).toEqual(users.toReversed());
    const page = await gw.run('app user list notes --limit 2 --offset 2');
    expect(page.stdout.trimEnd().split('\n')).toEqual([
      ...[expect.stringMatching(/^USER +STATUS +LAST SEEN/), expect.stringContaining('user-2')],
      expect.stringContaining('user-1'),
    ]);
    expect(page.stderr).toBe('3 to 4 of 5. More: --offset 4\n');
    const { json: searched } = await gw.run('app user list notes --query user-3 --json');
    expect([idsOf(searched.result.users), searched.result.total]).toEqual([['user-3'], 1]);
  });

  it('more than a page of the API → one list', async () => {
    await world.dataSource.query(
      `INSERT INTO usage_user_months
       SELECT $1, $2, 'user-' || number, '2026-01-01', 1, 1, 0, 0, 1, 1, 0, 0, now(), now(), now()::date, 1
       FROM generate_series(1, 430) AS number`,
      [organizationId, app],
    );
    const { json: document } = await gw.run('app user list notes --limit 410 --json');
    expect([new Set(idsOf(document.result.users)).size, document.result.limit]).toEqual([410, 410]);
  });

  it('block, list, show, unblock → as in the API, even for ids that a path would change', async () => {
    for (const user of ['ada', 'a/../b?c=%2F', 'two words']) {
      const blocked = await gw.run(['app', 'user', 'block', 'notes', user, '--json']);
      expect(blocked.json.result).toEqual({ app_id: app, user_id: user, blocked: true });
      const shown = await gw.run(['app', 'user', 'show', 'notes', user, '--json']);
      expect(shown.json.result.user).toMatchObject({ id: user, status: 'blocked' });
    }
    const { json: listed } = await gw.run('app user list notes --status blocked --json');
    expect(listed.result.total).toBe(3);
    expect((await gw.run('app user unblock notes ada')).stdout).toContain('Unblocked ada.');
    expect((await gw.run('app user list notes --status blocked --json')).json.result.total).toBe(2);
  });

  it('export → the rows of the API, to a file that only its owner can read or to standard output', async () => {
    await use('a/../b?c=%2F', '2026-01-01T00:00:00Z');
    const words = ['app', 'user', 'export', 'notes', 'a/../b?c=%2F'];
    const path = `/v1/admin/apps/${app}/user/export?user_id=${encodeURIComponent('a/../b?c=%2F')}`;
    const { text } = await api.get(path);
    const { json: document } = await gw.run([...words, '--output', 'user.ndjson', '--json']);
    expect(document.result).toEqual({ output: 'user.ndjson', rows: text.trimEnd().split('\n').length });
    const file = join(gw.home, 'user.ndjson');
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([text, 0o600]);
    expect(existsSync(`${file}.part`)).toBe(false);
    expect((await gw.run(words)).stdout).toBe(text);
    expect(errorOf(await gw.run([...words, '--json']))).toEqual([2, 'option_required']);
    const nobody = await gw.run('app user export notes nobody --output nobody.ndjson --json');
    expect([...errorOf(nobody), existsSync(join(gw.home, 'nobody.ndjson'))]).toEqual([2, 'not_found', false]);
  });

  it('no users, and no match → says what to do next', async () => {
    expect((await gw.run('app user list notes')).stdout).toContain('gw logs --app notes');
    expect((await gw.run('app user list notes --query x')).stdout).toContain('Nothing matches');
    const run = await gw.run('app user show notes nobody --json');
    expect(errorOf(run)).toEqual([2, 'not_found']);
    expect(run.json.error.nextAction).toBe('List them: gw app user list notes');
  });

  it.each(['list notes', 'show notes ada', 'export notes ada --output x', 'block notes ada', 'unblock notes ada'])(
    '%s of another account → no such application',
    async (line) => {
      expect(errorOf(await ofAnother(`app user ${line}`))).toEqual([2, 'app_not_found']);
    },
  );

  it('a key that may only read → may list, but not block', async () => {
    const { key } = await newMember(world.dataSource, organizationId, { grant: 'read' });
    const environment = { GW_MANAGEMENT_KEY: key };
    expect((await gw.run('app user list notes --json', '', environment)).exitCode).toBe(0);
    expect(errorOf(await gw.run('app user block notes ada --json', '', environment))).toEqual([
      ...[4, 'grant_insufficient'],
    ]);
  });
});

describe('gw app sign-in list', () => {
  const record = (...users: string[]) =>
    recordAuthEvents(
      world.gateway,
      users.map((userId) => anAuthEvent({ organizationId, appId: app, userId, outcome: 'attest_failed' })),
    );

  it('→ newest first, page by page without gaps', async () => {
    await record('one', 'two', 'three');
    await recordAuthEvents(world.gateway, [anAuthEvent({ organizationId, appId: app, userId: 'fine' })]);
    const users = async (words: string) =>
      (await gw.run(`app sign-in list notes ${words} --json`)).json.result.events.map(
        ({ user_id }: { user_id: string }) => user_id,
      );
    expect(await users('')).toEqual(['fine', 'three', 'two', 'one']);
    expect(await users('--outcome attest_failed')).toEqual(['three', 'two', 'one']);
    expect(await users('--user two')).toEqual(['two']);
    const first = await gw.run('app sign-in list notes --limit 2');
    const [, id] = /^Older ones: --before-id (\d+)\n$/.exec(first.stderr) ?? [];
    expect(await users(`--before-id ${id}`)).toEqual(['two', 'one']);
  });

  it('none → says what to do next; of another account → no such application', async () => {
    expect((await gw.run('app sign-in list notes')).stdout).toContain('gw app show notes');
    expect(errorOf(await ofAnother('app sign-in list notes'))).toEqual([2, 'app_not_found']);
  });
});

describe('gw audit list', () => {
  it('→ shows who changed what; filters by action, person, application and day', async () => {
    await gw.run('app user block notes ada');
    const actions = async (words: string) =>
      (await gw.run(`audit list ${words} --json`)).json.result.events.map(({ action }: { action: string }) => action);
    expect(await actions('')).toEqual(['user.blocked', 'app.created']);
    expect(await actions('--action app.created')).toEqual(['app.created']);
    expect(await actions(`--actor ${identityId}`)).toHaveLength(2);
    expect(await actions('--actor somebody')).toEqual([]);
    expect(await actions('--app notes')).toEqual(['user.blocked', 'app.created']);
    expect(await actions('--to 2020-01-01')).toEqual([]);
    expect((await gw.run('audit list --limit 1')).stdout).toMatch(/user\.blocked .* cli .*user ada/);
  });

  it('of a removed application → by its id', async () => {
    await gw.run('app remove notes --yes');
    const { json: document } = await gw.run(`audit list --app ${app} --action app.deleted --json`);
    expect(document.result.events).toMatchObject([{ target: { type: 'app', id: app } }]);
  });

  it('of another account → nothing; an invalid day → exit 2', async () => {
    expect((await ofAnother('audit list')).json.result.events).toEqual([]);
    expect(errorOf(await gw.run('audit list --from 2026-02-30 --json'))).toEqual([2, 'invalid_request']);
  });
});

describe('gw price, gw model', () => {
  it('price list → the catalog, by type and name; price show → every rate', async () => {
    const { json: listed } = await gw.run('price list --provider openai --query gpt-4.1-mini --json');
    const { prices } = (await api.get('/v1/admin/prices')).body;
    expect(listed.result.prices.openai['gpt-4.1-mini']).toEqual(prices.openai['gpt-4.1-mini']);
    expect(Object.keys(listed.result.prices)).toEqual(['openai']);
    const { json: shown } = await gw.run('price show openai gpt-4.1-mini --json');
    expect(shown.result.price).toEqual(prices.openai['gpt-4.1-mini']);
    expect((await gw.run('price list --query no-such-model')).stdout).toContain('Nothing matches');
  });

  it.each(['openai no-such-model', 'nobody gpt-4.1', '__proto__ toString'])('price show %s → exit 2', async (words) => {
    expect(errorOf(await gw.run(`price show ${words} --json`))).toEqual([2, 'not_found']);
  });

  it('model list → models of active providers; custom prices come first', async () => {
    expect((await gw.run('model list')).stdout).toContain('gw provider add');
    const pricing = { 'gpt-4.1-mini': { input: 7, output: 9 }, mine: { input: 1, output: 2 } };
    const secret = 'sk-of-a-provider-4711';
    await api.post('/v1/admin/providers', { type: 'openai', slug: 'main', name: 'Main', secret, pricing });
    const { body } = await api.post('/v1/admin/providers', { type: 'mistral', slug: 'off', name: 'Off', secret });
    await api.put(`/v1/admin/providers/${body.provider.id}`, { status: 'disabled' });
    const models = (await gw.run('model list --json')).json.result.models as { model: string; provider: string }[];
    expect(new Set(models.map(({ provider }) => provider))).toEqual(new Set(['main']));
    expect(models.find(({ model }) => model === 'gpt-4.1-mini')).toMatchObject({
      ...{ source: 'provider', price: { input: 7, output: 9 } },
    });
    expect(models.find(({ model }) => model === 'gpt-4.1')).toMatchObject({ source: 'catalog' });
    const { stdout } = await gw.run('model list --provider main --query mine');
    expect(stdout.split('\n')[1]).toMatch(/^mine +main +1 +2 +- +- +provider$/);
  });
});

describe('actions that only a signed-in person may take', () => {
  it.each(['list', 'invite --role member', 'role ada@example.com admin', 'remove ada@example.com'])(
    'gw member %s → exit 4 with the page of the console',
    async (words) => {
      const run = await gw.run(`member ${words} --json`);
      expect(errorOf(run)).toEqual([4, 'session_required']);
      expect(run.json.error.nextAction).toContain(`${consoleOrigin}/members`);
    },
  );
});

describe('gw open', () => {
  it.each([
    ['', '/'],
    ['members', '/members'],
    ['audit', '/audit'],
    ['account', '/access'],
  ])('%s → the address of the page, if there is no browser', async (page, path) => {
    expect((await gw.run(`open ${page}`)).stdout).toBe(`${consoleOrigin}${path}\n`);
  });

  it('--app → the application, or one of its pages', async () => {
    expect((await gw.run('open --app notes')).stdout).toBe(`${consoleOrigin}/apps/${app}/overview\n`);
    expect((await gw.run('open users --app notes --json')).json.result).toEqual({
      ...{ url: `${consoleOrigin}/apps/${app}/users`, opened: false },
    });
  });

  it.each(['open users', 'open members --app notes', 'open nothing'])('%s → exit 2', async (line) => {
    expect((await gw.run(`${line} --json`)).exitCode).toBe(2);
  });
});

describe('output of lists', () => {
  it('on a terminal of 80 columns → truncated to it; piped → complete', async () => {
    const user = `auth0|${'x'.repeat(120)}`;
    await use(user, '2026-01-01T00:00:00Z');
    expect((await gw.run('app user list notes')).stdout).toContain(user);
    const session = gw.onTerminal('app user list notes');
    expect(await session.ended).toBe(0);
    const lines = session.leftOnScreen.split(/\r?\n/);
    expect(lines.some((line) => line.includes('…'))).toBe(true);
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
  });

  it('app list → sorted, filtered, and by pages', async () => {
    for (const name of ['Alpha', 'Zeta']) await api.post('/v1/admin/apps', { name, config: CONFIG });
    const names = async (words: string) =>
      (await gw.run(`app list ${words} --json`)).json.result.apps.map(({ name }: { name: string }) => name);
    expect(await names('--sort name')).toEqual(['Alpha', 'Notes', 'Zeta']);
    expect(await names('--sort name --order desc --limit 1 --offset 1')).toEqual(['Notes']);
    expect(await names('--status disabled')).toEqual([]);
    expect((await gw.run('app list --limit 1')).stderr).toBe('1 to 1 of 3. More: --offset 1\n');
  });
});
