import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { newOrganization, type Person } from '../../support/accounts/people.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { anAuthEvent, recordAuthEvents } from '../../support/client-auth/exchange/auth-events.js';
import { ConsoleBrowser } from '../../support/console/console-browser.js';
import { eventually } from '../../support/eventually.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const PAGE_MS = 60_000;
const EVERY_PROVIDER = { providers: { mode: 'all' }, model_rewrites: {} };

let world: World;
let chromium: Browser;
let owner: Person;
let organization: string;
let browser: ConsoleBrowser;
let page: Page;

/** A console for the owner of a new organization. */
async function open(): Promise<void> {
  ({ owner, organizationId: organization } = await newOrganization(world));
  await browser.handTo(owner.cookie);
}

async function provider(members: object = {}): Promise<void> {
  const body = { type: 'openai', name: 'OpenAI', secret: 'sk-of-the-forms', ...members };
  expect((await owner.client.post('/v1/admin/providers', body)).status).toBe(201);
}

async function app(config: object = {}): Promise<string> {
  const body = { name: 'Journal', config: { authentication: { type: 'api_key' }, routing: EVERY_PROVIDER, ...config } };
  const created = await owner.client.post('/v1/admin/apps', body);
  expect(created.status).toBe(201);
  return created.body.app.id;
}

const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();

describeWithBrowser('the forms of the console', () => {
  beforeAll(async () => {
    world = await startWorld({ env: { REDIS_URL: '' } });
    chromium = await startBrowser();
    browser = await ConsoleBrowser.open(world, chromium);
    page = browser.page;
  }, PAGE_MS);
  afterEach(() => expect(browser.complaints).toEqual([]));
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it(
    'a preset of an identity provider → filled in only with its values; braces typed by hand → refused at the field',
    async () => {
      await open();
      const id = await app();
      await browser.go(`/apps/${id}/auth`);
      await page.getByRole('radio', { name: 'Your sign-in' }).check();
      await page.getByLabel('Identity provider').selectOption('supabase');
      const fill = page.getByRole('button', { name: 'Fill in' });
      expect(await fill.getAttribute('title')).toBe('Enter Project reference first.');
      await fill.click({ force: true });
      const keys = page.getByLabel('JWKS URL');
      expect(await keys.inputValue()).toBe('');
      await page.getByLabel('Project reference').fill('abcdefghijklmnopqrst');
      await fill.click();
      expect(await keys.inputValue()).toBe('https://abcdefghijklmnopqrst.supabase.co/auth/v1/.well-known/jwks.json');
      await keys.fill('https://{ref}.supabase.co/keys');
      await save();
      const described = page.locator('[aria-invalid=true]');
      await described.waitFor();
      expect(await described.inputValue()).toBe('https://{ref}.supabase.co/keys');
      await page.getByText('must not have braces').first().waitFor();
      expect(await browser.axe()).toEqual([]);
    },
    PAGE_MS,
  );

  it(
    'a rewrite of a name with quotes and colons to a model without a price → refused in its row',
    async () => {
      await open();
      await provider();
      const id = await app();
      await browser.go(`/apps/${id}/proxy`);
      await page.getByLabel('Requested model').fill('my "best": model');
      await page.getByLabel('Model to call').fill('no-such-model');
      await page.getByRole('button', { name: 'Add rewrite' }).click();
      await save();
      const line = page.getByText('my "best": model').locator('..');
      await line.getByRole('alert').getByText('"no-such-model" has no price').waitFor();
      expect(await page.locator('[aria-invalid=true]').count()).toBe(0);
    },
    PAGE_MS,
  );

  it(
    'an endpoint whose fallback names no provider → refused at that fallback, with the error in its row',
    async () => {
      await open();
      await provider();
      const id = await app({
        endpoints: { answer: { api_style: 'responses', provider: 'openai', model: 'gpt-4.1-mini' } },
      });
      await browser.go(`/apps/${id}/endpoints`);
      await page.getByRole('button', { name: 'Edit answer' }).click();
      const drawer = page.getByRole('dialog');
      await page.getByRole('button', { name: 'Add a fallback' }).click();
      await page.getByLabel('Model of fallback 1').fill('gpt-4.1');
      await drawer.getByRole('button', { name: 'Save' }).click();
      await page.locator('[aria-invalid=true]').waitFor();
      expect(await page.getByLabel('Provider of fallback 1').getAttribute('aria-invalid')).toBe('true');
      await drawer.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('row', { name: 'answer' }).getByRole('alert').waitFor();
      await page.getByRole('button', { name: 'Edit answer' }).click();
      expect(await page.getByLabel('Model of fallback 1').inputValue()).toBe('gpt-4.1');
      expect(await page.getByLabel('Provider of fallback 1').getAttribute('aria-invalid')).toBe('true');
    },
    PAGE_MS,
  );

  it(
    'a new endpoint → discarded only after confirmation, refused without a model, then listed and stored',
    async () => {
      await open();
      await provider();
      const id = await app({});
      await browser.go(`/apps/${id}/endpoints`);
      await page.getByRole('button', { name: 'New endpoint' }).click();
      const drawer = page.getByRole('dialog');
      await drawer.getByLabel('Endpoint name').fill('answer');
      await page.keyboard.press('Escape');
      await drawer.getByText('Closing discards what you have typed.').waitFor();
      await drawer.getByRole('button', { name: 'Keep editing' }).click();
      await drawer.getByRole('button', { name: 'Save' }).click();
      await drawer.locator('[aria-invalid=true]').waitFor();
      await drawer.getByLabel('Model of target').fill('gpt-4.1-mini');
      await drawer.getByRole('button', { name: 'Save' }).click();
      await drawer.waitFor({ state: 'detached' });
      await page.getByRole('row', { name: 'answer' }).getByText('gpt-4.1-mini').waitFor();
      const { endpoints } = (await owner.client.get(`/v1/admin/apps/${id}`)).body.app.config;
      expect(endpoints).toMatchObject({
        answer: { api_style: 'responses', provider: 'openai', model: 'gpt-4.1-mini' },
      });
    },
    PAGE_MS,
  );

  it(
    'allowed paths → chosen from those of the provider type, and stored',
    async () => {
      await open();
      await provider();
      const selected = { openai: { allowed_paths: [], allowed_models: [] } };
      const id = await app({ routing: { ...EVERY_PROVIDER, providers: { mode: 'selected', selected } } });
      await browser.go(`/apps/${id}/proxy`);
      const field = page.getByLabel('Add a path');
      const list = page.locator(`datalist[id="${await field.getAttribute('list')}"] option`);
      await list.first().waitFor({ state: 'attached' });
      const known = await list.evaluateAll((options) => options.map((option) => option.getAttribute('value')));
      expect(known).toEqual(expect.arrayContaining(['v1/responses', 'v1/chat/completions']));
      await field.fill('v1/responses');
      await page.getByRole('button', { name: 'Add path' }).click();
      await page.getByRole('button', { name: 'Remove v1/responses' }).waitFor();
      await save();
      await page.getByText('You have unsaved changes.').waitFor({ state: 'detached' });
      const { routing } = (await owner.client.get(`/v1/admin/apps/${id}`)).body.app.config;
      expect(routing.providers.selected.openai.allowed_paths).toEqual(['v1/responses']);
    },
    PAGE_MS,
  );

  it(
    'an entry for a provider type → says which instances it covers, without those that have their own entry',
    async () => {
      await open();
      await provider();
      await provider({ slug: 'openai-2', name: 'Second' });
      const selected = { openai: { allowed_paths: [], allowed_models: [] } };
      const id = await app({ routing: { ...EVERY_PROVIDER, providers: { mode: 'selected', selected } } });
      await browser.go(`/apps/${id}/proxy`);
      await page.getByText('Covers OpenAI (openai) and Second (openai-2), and every provider of the type').waitFor();
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByText('Covers OpenAI (openai), and every provider of the type openai').waitFor();
      await page.getByText('Covers Second (openai-2).').waitFor();
    },
    PAGE_MS,
  );

  it(
    'the overview, opened under 127.0.0.1 → every URL on it has that host',
    async () => {
      await open();
      await provider();
      const id = await app();
      await browser.go(`/apps/${id}/overview`);
      await page.getByText('curl', { exact: false }).first().waitFor();
      const addresses = (await page.locator('main').innerText()).match(/https?:\/\/[\w.:]+/g) ?? [];
      expect(addresses.length).toBeGreaterThan(1);
      expect(new Set(addresses)).toEqual(new Set([world.baseUrl]));
    },
    PAGE_MS,
  );

  it(
    'a key is tested in its form → green only if accepted; a refused one is marked in the form and the list',
    async () => {
      await open();
      await browser.go('/providers');
      await page.getByRole('button', { name: 'Add provider' }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Provider key').fill('sk-of-the-forms');
      await dialog.getByText('More', { exact: true }).click();
      await dialog.getByLabel('Base URL').fill(`${world.upstream.url}/`);
      const test = dialog.getByRole('button', { name: 'Test', exact: true });
      world.upstream.script(json(503, {}));
      await test.click();
      const doubt = dialog.getByText('OpenAI answered the test of the key with status 503');
      await doubt.waitFor();
      expect(await doubt.locator('..').getAttribute('role')).toBe('alert');
      world.upstream.script(json(401, {}));
      await test.click();
      await dialog.getByText('The provider refused this key with status 401.').waitFor();
      expect(await dialog.getByLabel('Provider key').getAttribute('aria-invalid')).toBe('true');
      expect(await dialog.getByRole('button', { name: 'Create', exact: true }).count()).toBe(0);
      expect(await browser.axe()).toEqual([]);
      await dialog.getByRole('button', { name: 'Create anyway' }).click();
      await page.getByText('Key refused').waitFor();
      world.upstream.script(json(200, { data: [] }));
      await page.getByRole('button', { name: 'Test OpenAI' }).click();
      await page.getByText('Key accepted').waitFor();
      expect(await browser.axe()).toEqual([]);
    },
    PAGE_MS,
  );

  it(
    'rotate a key with a test → in three actions; a refused key leaves the old one in use',
    async () => {
      await open();
      await provider({ baseUrl: `${world.upstream.url}/` });
      await browser.go('/providers');
      const hint = async () => (await owner.client.get('/v1/admin/providers')).body.providers[0].secretHint;
      const rotate = page.getByRole('button', { name: 'Rotate OpenAI' });
      const dialog = page.getByRole('dialog');
      const key = dialog.getByLabel('New provider key');
      const save = dialog.getByRole('button', { name: 'Test and save' });
      world.upstream.script(json(401, {}));
      await rotate.click();
      await key.fill('sk-that-is-refused-0000');
      await save.click();
      await dialog.getByText('Nothing is stored: the old key stays in use.').waitFor();
      expect(await hint()).not.toBe('0000');
      await dialog.getByRole('button', { name: 'Cancel' }).click();

      world.upstream.script(json(200, { data: [] }));
      const acts = [() => rotate.click(), () => key.fill('sk-that-is-accepted-1111'), () => save.click()];
      for (const act of acts) await act();
      await page.getByText('OpenAI now uses its new key.').waitFor();
      expect(acts.length).toBeLessThanOrEqual(3);
      expect(await hint()).toBe('1111');
      await page.getByText('Key accepted').waitFor();
      expect(world.upstream.requests.at(-1)?.header('authorization')).toBe('Bearer sk-that-is-accepted-1111');
    },
    PAGE_MS,
  );

  it(
    'deleting a provider → names the applications that reach it by mode, type or endpoint; says none only if there is none',
    async () => {
      await open();
      await provider({ slug: 'second', name: 'Second' });
      await browser.go('/providers');
      const dialog = page.getByRole('dialog');
      const remove = page.getByRole('button', { name: 'Delete Second' });
      await remove.click();
      await dialog.getByText('No application can reach it.').waitFor();
      await page.keyboard.press('Escape');
      await app();
      const byType = {
        providers: { mode: 'selected', selected: { openai: { allowed_paths: [], allowed_models: [] } } },
      };
      await app({ routing: { ...EVERY_PROVIDER, ...byType } });
      await remove.click();
      await dialog.getByText('2 applications can reach it and will lose access: Journal, Journal.').waitFor();
    },
    PAGE_MS,
  );

  it(
    'repricing → types are chosen, not typed, and a preview disappears when the input changes',
    async () => {
      await open();
      await provider({ type: 'anthropic', name: 'Claude' });
      const id = await app();
      await browser.go(`/apps/${id}/usage?view=corrections`);
      const type = page.getByLabel('Provider type');
      expect(await type.inputValue()).toBe('anthropic');
      await type.selectOption('openai');
      const model = page.getByRole('group', { name: 'Reprice a model at today’s prices' }).getByLabel('Model');
      await model.fill('gpt-4.1-mini');
      await page.getByRole('button', { name: 'Preview' }).first().click();
      const apply = page.getByRole('button', { name: 'Apply' });
      await apply.waitFor();
      await model.fill('gpt-4.1');
      expect(await apply.count()).toBe(0);
    },
    PAGE_MS,
  );

  it(
    'token limits, alert thresholds, groups and runs → saved as entered; a reserved header → refused at its field',
    async () => {
      await open();
      const id = await app();
      await browser.go(`/apps/${id}/limits`);
      const heading = page.getByRole('heading', { name: 'Whole application' });
      const whole = page.locator('section').filter({ has: heading });
      await whole.getByLabel('Tokens per day (UTC)').fill('9000');
      await whole.getByLabel('USD in total').fill('40');
      await whole.getByLabel('Report at (percent of each budget)').fill('25, 99.5');
      await page.getByLabel('New group type').fill('team');
      await page.getByRole('button', { name: 'Add group type' }).click();
      const team = page.getByRole('region', { name: 'Groups: team' });
      await team.getByLabel('USD per month (UTC)').fill('5');
      await team.getByLabel('Header that names the team').fill('x-run-id');
      await page.getByLabel('Largest budget of a run (USD)').fill('0.5');
      await save();
      await team.getByText('must not be x-run-id', { exact: false }).waitFor();
      await team.getByLabel('Header that names the team').fill('x-team');
      expect(await browser.axe()).toEqual([]);
      await save();
      await page.getByText('Saved.', { exact: false }).waitFor();
      const { limits } = (await owner.client.get(`/v1/admin/apps/${id}`)).body.app.config;
      expect(limits).toMatchObject({
        per_app: { tokens: { per_day: 9_000 }, spending: { total_usd: 40, thresholds: [0.25, 0.995] } },
        groups: { team: { header: 'x-team', spending: { monthly_usd: 5 } } },
        runs: { max_usd: 0.5 },
      });
      await team.getByRole('button', { name: 'Remove team' }).click();
      await page.getByLabel('Largest budget of a run (USD)').fill('');
      await save();
      await page.getByText('Saved.', { exact: false }).waitFor();
      await eventually(
        async () => {
          const stored = (await owner.client.get(`/v1/admin/apps/${id}`)).body.app.config.limits;
          return stored.groups === undefined && stored.runs === undefined;
        },
        { withinMs: PAGE_MS / 2 },
      );
    },
    PAGE_MS,
  );

  it(
    'a budget of each user, saved beside the users → they have it at once; Enter in its field saves it too',
    async () => {
      await open();
      const id = await app({ authentication: { type: 'api_key', end_user: { source: 'header', header: 'x-user' } } });
      await browser.go(`/apps/${id}/limits`);
      const budget = page.getByLabel('USD per month (UTC)').nth(1);
      await budget.fill('5');
      await page.getByRole('link', { name: 'Who is at the limit' }).click();
      await page.getByText('Users of this application have no budget.', { exact: false }).waitFor();
      await save();
      await page.getByText('Each user may spend $5.00 a month', { exact: false }).waitFor();
      await page.getByRole('link', { name: 'Limits', exact: true }).click();
      await budget.fill('6');
      await budget.press('Enter');
      await page.getByText('You have unsaved changes.').waitFor({ state: 'detached' });
      const { limits } = (await owner.client.get(`/v1/admin/apps/${id}`)).body.app.config;
      expect(limits.per_user.spending.monthly_usd).toBe(6);
      expect(await browser.axe()).toEqual([]);
    },
    PAGE_MS,
  );

  it(
    'a phone application → accepts Android too, each proof with its mode; a looser mode shows a warning, and the shared limits are saved',
    async () => {
      await open();
      const app_attest = { team_id: 'ABCDE12345', bundle_id: 'com.example.app' };
      const phones = { type: 'device_app_attest', end_user: { source: 'app_install' }, app_attest };
      const id = await app({ authentication: phones });
      await browser.go(`/apps/${id}/auth`);
      await page.getByRole('button', { name: 'Add Android and other devices' }).click();
      await page.getByRole('button', { name: 'Add Android key attestation' }).click();
      const android = page.getByRole('region', { name: 'Android key attestation' });
      const apple = page.getByRole('region', { name: 'App Attest' });
      await apple.getByLabel('App Store').check();
      await apple.getByLabel('Lowest bundle version').fill('2.10');
      await android.getByLabel('Packages').fill('com.example.app');
      await android.getByLabel('Signing certificates').fill('nothing');
      await android.getByLabel('When Android key attestation fails').selectOption('tier');
      await page.getByText('key_attestation is looser than another proof', { exact: false }).waitFor();
      await save();
      await android.getByText('must be a SHA-256', { exact: false }).waitFor();
      expect(await page.locator(':focus').inputValue()).toBe('nothing');
      await android.getByLabel('Signing certificates').fill('ab'.repeat(32));
      await android.getByLabel('Oldest security patch').fill('202511');
      await page.getByLabel('Minimum version of the app').fill('2.10');
      // The bars above and below cover what is scrolled behind them.
      await page.evaluate('scrollTo(0, 0)');
      expect(await browser.axe()).toEqual([]);
      await save();
      await page.getByText('Saved.', { exact: false }).waitFor();
      await browser.go(`/apps/${id}/limits`);
      const heading = page.getByRole('heading', { name: 'Devices without a proof' });
      const pool = page.locator('section').filter({ has: heading });
      await pool.getByLabel('Requests per minute').fill('5');
      await pool.getByLabel('Limit them to some named endpoints').check();
      await save();
      await page.getByText('Saved.', { exact: false }).waitFor();
      const { authentication, limits } = (await owner.client.get(`/v1/admin/apps/${id}`)).body.app.config;
      expect(authentication).toMatchObject({
        ...{ type: 'device_proofs', min_app_version: '2.10' },
        proofs: {
          app_attest: { ...app_attest, mode: 'enforce', allowed_categories: [4], min_bundle_version: '2.10' },
          key_attestation: { package_names: ['com.example.app'], min_os_patch: 202_511, mode: 'tier' },
        },
      });
      expect(limits.unproven).toMatchObject({ requests: { per_minute: 5 }, allowed_endpoints: [] });
      const failed = { outcome: 'would_reject', reason: 'key_unknown', proof: 'key_attestation' } as const;
      const ofApp = { organizationId: organization, appId: id };
      await recordAuthEvents(world.gateway, [anAuthEvent({ ...ofApp, ...failed, authMethod: 'unproven' })]);
      await page.getByRole('link', { name: 'Authentication', exact: true }).click();
      await page.getByRole('link', { name: 'Preview enforcement' }).click();
      await page.getByText('1 of 1 attempts would be refused', { exact: false }).waitFor();
      await page.getByRole('table', { name: 'Attempts by proof' }).waitFor();
      await page.getByRole('table', { name: 'Attempts that would be refused' }).waitFor();
      expect(await browser.axe()).toEqual([]);
      await browser.go(`/apps/${id}/auth`);
      await page.getByRole('button', { name: 'Remove App Attest' }).click();
      await save();
      await page.getByText('Saved.', { exact: false }).waitFor();
    },
    PAGE_MS,
  );
});
