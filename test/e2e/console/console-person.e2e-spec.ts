import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { newOrganization, newPerson } from '../../support/accounts/people.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser, WIDE } from '../../support/console/console-browser.js';
import { startWorld, type World } from '../../support/world.js';

const PAGE_MS = 60_000;
const NARROW = { width: 390, height: 800 };
const CONFIG = {
  authentication: { type: 'api_key' },
  routing: { providers: { mode: 'all' }, model_rewrites: {} },
  endpoints: { summarize: { api_style: 'responses', provider: 'openai', model: 'gpt-4.1-mini', params: { top_p: 1 } } },
};

let world: World;
let chromium: Browser;
let opened: ConsoleBrowser[] = [];

async function open(cookie?: string): Promise<ConsoleBrowser> {
  const browser = await ConsoleBrowser.open(world, chromium, cookie);
  opened.push(browser);
  return browser;
}

/** An organization with a provider and an application, and its owner's browser. */
async function atWork() {
  const { organizationId, owner } = await newOrganization(world);
  const provider = { type: 'openai', name: 'Ours', secret: 'sk-of-the-person' };
  expect((await owner.client.post('/v1/admin/providers', provider)).status).toBe(201);
  const { app } = (await owner.client.post('/v1/admin/apps', { name: 'Journal', config: CONFIG })).body;
  const browser = await open(owner.cookie);
  return { organizationId, client: owner.client, browser, page: browser.page, app };
}

/** Everything that the tab and the browser store, except the theme. */
const KEPT = `JSON.stringify([{ ...sessionStorage }, { ...localStorage }])`;

describeWithBrowser('what a person has typed', () => {
  beforeAll(async () => {
    world = await startWorld({ env: { REDIS_URL: '' } });
    chromium = await startBrowser();
  }, PAGE_MS);
  afterEach(async () => {
    for (const browser of opened) await browser.close();
    opened = [];
  });
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it(
    'a sign-out with unsaved changes → asks first; then no tab keeps them',
    async () => {
      const { browser, page, app } = await atWork();
      await browser.go(`/apps/${app.id}/settings`);
      await page.getByLabel('Application name').fill('A secret plan');
      await page.getByText('You have unsaved changes.').waitFor();
      const other = await browser.context.newPage();
      await other.goto(`${world.baseUrl}/apps/${app.id}/settings`);
      await other.getByLabel('Application name').fill('Another secret plan');
      await other.getByText('You have unsaved changes.').waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      const question = page.getByRole('dialog', { name: 'Sign out?' });
      await question.waitFor();
      expect(await browser.axe()).toEqual([]);
      await question.getByRole('button', { name: 'Stay' }).click();
      expect(await page.getByLabel('Application name').inputValue()).toBe('A secret plan');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await question.getByRole('button', { name: 'Sign out' }).click();
      for (const tab of [page, other]) {
        await tab.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
        expect(await tab.getByText('secret plan').count()).toBe(0);
        expect(await tab.evaluate(KEPT)).not.toContain('secret plan');
        expect(await tab.evaluate(KEPT)).not.toContain('person ');
      }
      expect(browser.complaints).toEqual([]);
    },
    PAGE_MS,
  );

  it(
    'a session expires and somebody else signs in in the same tab → sees the stored application',
    async () => {
      const { organizationId, browser, page, app } = await atWork();
      await browser.go(`/apps/${app.id}/settings`);
      await page.getByLabel('Application name').fill('A secret plan');
      await page.getByText('You have unsaved changes.').waitFor();
      const { cookie } = await newPerson(world, { organizationId, role: 'admin' });
      const [name = '', value = ''] = cookie.split('=');
      await browser.context.clearCookies();
      await browser.context.addCookies([{ name, value, url: world.baseUrl }]);
      page.once('dialog', (dialog) => void dialog.accept());
      await page.reload();
      await browser.settled();
      expect(await page.getByLabel('Application name').inputValue()).toBe('Journal');
      expect(await page.evaluate(KEPT)).not.toContain('secret plan');
    },
    PAGE_MS,
  );

  it.each(['Escape', 'cross', 'beside'])(
    'a dialog with unsaved input, closed by %s → asks; without input → closes',
    async (way) => {
      const { browser, page } = await atWork();
      const close = async () => {
        if (way === 'Escape') await page.keyboard.press('Escape');
        else if (way === 'cross') await page.getByRole('button', { name: 'Close' }).click();
        else await page.mouse.click(5, 400);
      };
      await browser.go('/providers');
      const dialog = page.getByRole('dialog', { name: 'Add a provider' });
      await page.getByRole('button', { name: 'Add provider' }).click();
      await dialog.waitFor();
      await close();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Add provider' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('Half typed');
      await close();
      await dialog.getByText('Closing discards what you have typed.').waitFor();
      expect(await browser.axe()).toEqual([]);
      await dialog.getByRole('button', { name: 'Keep editing' }).click();
      expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('Half typed');
      await close();
      await dialog.getByRole('button', { name: 'Discard' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Add provider' }).click();
      expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('');
    },
    PAGE_MS,
  );

  it(
    'a page with unsaved input, left by a link, by Back or by a sign-out → asks; after saving → does not ask',
    async () => {
      const { browser, page } = await atWork();
      const name = page.getByLabel('Application name');
      const question = page.getByRole('dialog', { name: 'Leave this page?' });
      const stay = async () => {
        await question.getByRole('button', { name: 'Stay' }).click();
        await question.waitFor({ state: 'detached' });
        expect([new URL(page.url()).pathname, await name.inputValue()]).toEqual(['/apps/new', 'Half typed']);
      };
      await browser.go('/members');
      await page.getByRole('link', { name: 'Applications', exact: true }).click();
      await page.getByRole('button', { name: 'New application' }).first().click();
      await name.fill('Half typed');
      await page.getByRole('link', { name: 'Members' }).click();
      await question.waitFor();
      expect(await browser.axe()).toEqual([]);
      await stay();
      for (let time = 0; time < 2; time++) {
        await page.goBack();
        await question.waitFor();
        await stay();
      }
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByRole('dialog', { name: 'Sign out?' }).getByRole('button', { name: 'Stay' }).click();
      expect(await name.inputValue()).toBe('Half typed');
      await page.goBack();
      await question.getByRole('button', { name: 'Leave' }).click();
      await page.getByRole('heading', { level: 1, name: 'Applications' }).waitFor();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
      await page.getByLabel('E-mail (optional)').fill('grace@example.com');
      await page.goForward();
      await question.getByRole('button', { name: 'Leave' }).click();
      await page.goForward();
      await name.fill('Written');
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByRole('button', { name: 'I have saved it' }).click();
      await page.getByRole('heading', { level: 1, name: 'Written' }).waitFor();
      expect(await question.count()).toBe(0);
      expect(browser.complaints).toEqual([]);
    },
    PAGE_MS,
  );

  it(
    'an application that is deleted with unsaved changes → they are discarded, without a message that they are kept',
    async () => {
      const { browser, page, app } = await atWork();
      await browser.go(`/apps/${app.id}/settings`);
      await page.getByLabel('Application name').fill('A secret plan');
      await page.getByText('You have unsaved changes.').waitFor();
      await page.getByRole('button', { name: 'Delete application' }).click();
      await page.getByLabel(`Type “${app.id}” to confirm`).fill(app.id);
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByText('Journal is deleted.').waitFor();
      expect(await page.getByText('are kept in this tab').count()).toBe(0);
      expect(await page.evaluate(KEPT)).not.toContain('secret plan');
    },
    PAGE_MS,
  );

  it(
    'input during a save → kept as unsaved, and saved next on top of the first save',
    async () => {
      const { browser, page, app, client } = await atWork();
      await browser.go(`/apps/${app.id}/limits`);
      const held = Promise.withResolvers<void>();
      let saves = 0;
      await page.route(`**/v1/admin/apps/${app.id}`, async (route) => {
        if (route.request().method() === 'PUT' && ++saves === 1) await held.promise;
        await route.continue();
      });
      const minute = page.getByLabel('Requests per minute').first();
      const day = page.getByLabel('Requests per day (UTC)').first();
      await minute.fill('12');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await day.fill('300');
      held.resolve();
      await page.getByText('Saved.', { exact: false }).waitFor();
      expect([await minute.inputValue(), await day.inputValue()]).toEqual(['12', '300']);
      await page.getByRole('link', { name: 'Settings', exact: true }).click();
      await page.getByText('You have unsaved changes.').waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('You have unsaved changes.').waitFor({ state: 'detached' });
      const { limits } = (await client.get(`/v1/admin/apps/${app.id}`)).body.app.config;
      expect(limits.per_app.requests).toMatchObject({ per_minute: 12, per_day: 300 });
    },
    PAGE_MS,
  );

  it(
    'parameters of an endpoint → discarded only after confirmation, refused if they are not JSON, and merged after a conflict',
    async () => {
      const { browser, page, app, client } = await atWork();
      await browser.go(`/apps/${app.id}/endpoints`);
      const field = page.getByLabel('Parameters (JSON)');
      const drawer = page.getByRole('dialog').filter({ has: field });
      const edit = () => page.getByRole('button', { name: 'Edit summarize' }).click();
      const close = (act: string) => drawer.getByRole('button', { name: act, exact: true }).click();
      await edit();
      const before = await field.inputValue();
      await field.fill('{ "top_p": 0.5 }');
      await page.keyboard.press('Escape');
      await drawer.getByText('Closing discards what you have typed.').waitFor();
      await close('Discard');
      await drawer.waitFor({ state: 'detached' });
      await edit();
      expect(await field.inputValue()).toBe(before);
      await field.fill('{ "top_p": ');
      await page.getByText('is not a JSON object').waitFor();
      await close('Save');
      await drawer.getByRole('alert').first().waitFor();
      const stored = async () => (await client.get(`/v1/admin/apps/${app.id}`)).body.app;
      expect((await stored()).config.endpoints.summarize.params).toEqual({ top_p: 1 });
      await close('Cancel');
      await page.getByRole('button', { name: 'Discard' }).click();
      await edit();
      expect(await field.inputValue()).toBe(before);
      await field.fill('{ "top_p": 0.5 }');
      const { name, config, revision } = await stored();
      const { summarize } = config.endpoints;
      const theirs = { ...config, endpoints: { summarize: { ...summarize, params: { top_p: 0.25 } } } };
      const put = await client.put(`/v1/admin/apps/${app.id}`, { name, config: theirs, revision });
      expect(put.status).toBe(200);
      await close('Save');
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Take theirs' }).click();
      await dialog.getByRole('button', { name: 'Save', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      await edit();
      expect(JSON.parse(await field.inputValue())).toEqual({ top_p: 0.25 });
      expect((await stored()).config.endpoints.summarize.params).toEqual({ top_p: 0.25 });
    },
    PAGE_MS,
  );

  it(
    'an invalid number → nothing is saved until it is corrected',
    async () => {
      const { browser, page, app, client } = await atWork();
      await browser.go(`/apps/${app.id}/limits`);
      const minute = page.getByLabel('Requests per minute').first();
      await minute.fill('12');
      await minute.fill('12x');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('A field has a value that cannot be read.').waitFor();
      expect(await minute.and(page.locator(':focus')).count()).toBe(1);
      const stored = async () => JSON.stringify((await client.get(`/v1/admin/apps/${app.id}`)).body.app.config.limits);
      expect(await stored()).not.toContain('12');
      await minute.fill('120');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Saved.', { exact: false }).waitFor();
      expect(await stored()).toContain('"per_minute":120');
    },
    PAGE_MS,
  );

  it(
    'the menu of a narrow screen → keeps the focus, closes by Escape, by its close button, by opening a page and when the screen becomes wide',
    async () => {
      const { browser, page } = await atWork();
      await page.setViewportSize(NARROW);
      await browser.go('/apps');
      const menu = page.getByRole('dialog', { name: 'Menu' });
      const openMenu = page.getByRole('button', { name: 'Menu' });
      await openMenu.click();
      await menu.waitFor();
      expect(await browser.axe()).toEqual([]);
      for (let stops = 0; stops < 30; stops++) {
        await page.keyboard.press('Tab');
        expect(await menu.locator(':focus').count()).toBe(1);
      }
      await page.keyboard.press('Escape');
      await menu.waitFor({ state: 'detached' });
      expect(await openMenu.and(page.locator(':focus')).count()).toBe(1);
      await openMenu.click();
      await menu.getByRole('button', { name: 'Close' }).click();
      await menu.waitFor({ state: 'detached' });
      await openMenu.click();
      await menu.getByRole('link', { name: 'Applications' }).click();
      await menu.waitFor({ state: 'detached' });
      await openMenu.click();
      await menu.getByRole('link', { name: 'Members' }).click();
      await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
      await menu.waitFor({ state: 'detached' });
      await openMenu.click();
      await page.setViewportSize(WIDE);
      await menu.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Providers' }).click();
      await page.getByRole('heading', { level: 1, name: 'Providers' }).waitFor();
      expect(browser.complaints).toEqual([]);
    },
    PAGE_MS,
  );
});
