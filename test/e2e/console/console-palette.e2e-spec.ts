import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { newOrganization } from '../../support/accounts/people.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser } from '../../support/console/console-browser.js';
import { storeEvents } from '../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../support/world.js';

const PAGE_MS = 60_000;
const CONFIG = {
  authentication: { type: 'api_key', end_user: { source: 'header', header: 'x-customer-id' } },
  routing: { providers: { mode: 'all' }, model_rewrites: {} },
};
const NAMES = ['Journal', 'Journal 3', 'Journal 30', 'Old Journal', 'Worker'];

let world: World;
let chromium: Browser;
let browser: ConsoleBrowser;
let page: Page;

async function open(text: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').and(page.locator(':focus')).waitFor();
  await page.keyboard.type(text);
}

const heading = (name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name, ...(typeof name === 'string' ? { exact: true } : {}) }).waitFor();

describeWithBrowser('going anywhere by keys', () => {
  beforeAll(async () => {
    world = await startWorld({ env: { REDIS_URL: '' } });
    chromium = await startBrowser();
    const { owner } = await newOrganization(world);
    for (const name of NAMES) {
      const { status, body } = await owner.client.post('/v1/admin/apps', { name, config: CONFIG });
      expect(status).toBe(201);
      // A blocked user is a known user.
      const blocked = await owner.client.post(`/v1/admin/apps/${body.app.id}/users/ada-lovelace/block`);
      expect(blocked.status).toBe(200);
    }
    for (const slug of ['first', 'second']) {
      const provider = { type: 'openai', slug, name: `OpenAI ${slug}`, secret: 'sk-of-the-palette' };
      expect((await owner.client.post('/v1/admin/providers', provider)).status).toBe(201);
    }
    browser = await ConsoleBrowser.open(world, chromium, owner.cookie);
    page = browser.page;
  }, PAGE_MS);
  afterEach(() => expect(browser.complaints).toEqual([]));
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it.each(NAMES)(
    'a name followed at once by Enter → opens %s, not an earlier result',
    async (name) => {
      await browser.go('/providers');
      await open('work');
      await page.getByRole('option', { name: /^Worker/ }).waitFor();
      await page.keyboard.press('Control+a');
      await page.keyboard.type(name);
      await page.keyboard.press('Enter');
      await heading(name);
    },
    PAGE_MS,
  );

  it(
    'a slow search → shows no outdated results, and Enter waits for the answer',
    async () => {
      await browser.go('/providers');
      await open('work');
      await page.getByRole('option', { name: /^Worker/ }).waitFor();
      let answer = () => {};
      const held = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await page.route('**/v1/admin/apps?*query=journal*', async (route) => {
        await held;
        await route.continue();
      });
      await page.keyboard.press('Control+a');
      await page.keyboard.type('journal 3');
      await page.keyboard.press('Enter');
      expect(await page.getByRole('option', { name: /^Worker/ }).count()).toBe(0);
      expect(await page.getByRole('dialog').count()).toBe(1);
      answer();
      await heading('Journal 3');
      await page.unrouteAll({ behavior: 'wait' });
    },
    PAGE_MS,
  );

  it(
    'letters added and taken away → each entry once',
    async () => {
      await browser.go('/apps');
      await open('o');
      for (const text of ['op', 'ope', 'op', 'o', 'openai', 'open']) {
        await page.getByRole('combobox').fill(text);
        const shown = await page.getByRole('option').allTextContents();
        expect(new Set(shown).size).toBe(shown.length);
      }
      await page.getByRole('option', { name: /^OpenAI second/ }).waitFor();
      expect(await page.getByRole('option', { name: /^OpenAI/ }).count()).toBe(2);
      expect(await browser.axe()).toEqual([]);
      await page.keyboard.press('Escape');
    },
    PAGE_MS,
  );

  it(
    'tabs, users and actions → found by name',
    async () => {
      await browser.go('/providers');
      await open('worker lim');
      await page.keyboard.press('Enter');
      await heading('Worker: limits');
      await open('worker usage');
      await page.keyboard.press('Enter');
      await heading('Worker: usage');
      await open('ada');
      await page.getByRole('option', { name: /^ada-lovelace\s*User of Worker$/ }).click();
      await heading('Worker: user');
      await page.getByRole('button', { name: 'Unblock ada-lovelace' }).waitFor();
      await open('keyboard');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      await page.keyboard.press('Escape');
    },
    PAGE_MS,
  );

  it(
    'a user of another application → found only by the full id; a document → opens in another tab',
    async () => {
      const [{ organization_id, id: app_id }] = await world.dataSource.query(
        "SELECT organization_id, id FROM apps WHERE name = 'Old Journal'",
      );
      await storeEvents(world.dataSource, {
        organization_id,
        app_id,
        user_id: 'grace-hopper',
        at: new Date().toISOString(),
      });
      await open('grace-hop');
      await page
        .getByRole('listbox', { name: 'Results' })
        .and(page.locator('[aria-busy=false]'))
        .waitFor({ state: 'attached' });
      expect(await page.getByRole('option').count()).toBe(0);
      await page.keyboard.type('per');
      await page.getByRole('option', { name: `grace-hopper User of ${app_id}` }).waitFor();
      await page.keyboard.press('Enter');
      await heading('Old Journal: user');
      await page.getByRole('heading', { level: 2, name: 'grace-hopper' }).waitFor();
      await open('limits and budgets');
      const opened = browser.context.waitForEvent('page');
      await page.getByRole('option', { name: 'Limits and budgets Documentation' }).click();
      const document = await opened;
      await document.getByRole('heading', { level: 1, name: 'Limits and budgets' }).waitFor();
      await document.close();
    },
    PAGE_MS,
  );

  it.each([
    ['rotate', 'Rotate a provider key'],
    ['csv', 'Export usage as CSV'],
    ['block', 'Block a user'],
    ['refused', 'Refused calls'],
    ['budget', 'Change a budget'],
    ['MCP', 'Connect an AI client'],
  ])(
    '“%s” → “%s” first, and documents below it',
    async (word, first) => {
      await browser.go('/providers');
      await open(word);
      await page
        .getByRole('option', { name: /Documentation$/ })
        .first()
        .waitFor();
      expect(await page.getByRole('option').first().textContent()).toMatch(new RegExp(`^${first}`));
      await page.keyboard.press('Escape');
    },
    PAGE_MS,
  );

  it(
    'shortcuts → pages, a new application, the search of the list; the dialog names them all',
    async () => {
      await browser.go('/apps');
      await page.keyboard.press('?');
      const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await dialog.waitFor();
      expect(await browser.axe()).toEqual([]);
      const keys = await dialog.getByRole('definition').allTextContents();
      expect(keys).toEqual(
        expect.arrayContaining(['Go to Providers', 'New application', 'Search this list, or everything']),
      );
      await page.keyboard.press('g');
      await page.keyboard.press('p');
      expect(new URL(page.url()).pathname).toBe('/apps');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      for (const [key, name] of [
        ['p', 'Providers'],
        ['m', 'Members'],
        ['a', 'Applications'],
      ] as const) {
        await page.keyboard.press('g');
        await page.keyboard.press(key);
        await heading(name);
      }
      await page.keyboard.press('/');
      await page.getByLabel('Search applications').and(page.locator(':focus')).waitFor();
      await page.keyboard.type('n?g/p');
      expect(await page.getByLabel('Search applications').inputValue()).toBe('n?g/p');
      expect(await page.getByRole('dialog').count()).toBe(0);
      await page.getByRole('heading', { level: 1 }).click();
      await page.keyboard.press('n');
      await heading('New application');
    },
    PAGE_MS,
  );

  it(
    'shortcuts disabled → single keys do nothing, Ctrl K still opens the search',
    async () => {
      await browser.go('/providers');
      await page.keyboard.press('?');
      await page.getByLabel('Shortcuts of single keys').uncheck();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.keyboard.press('?');
      await page.keyboard.press('n');
      await open('keyboard');
      await page.keyboard.press('Enter');
      await page.getByLabel('Shortcuts of single keys').check();
      await page.keyboard.press('Escape');
      expect(new URL(page.url()).pathname).toBe('/providers');
    },
    PAGE_MS,
  );
});
