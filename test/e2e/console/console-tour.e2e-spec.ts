import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser, WIDE } from '../../support/console/console-browser.js';
import { askForFirstAnswer } from '../../support/console/first-answer.js';
import { eventually } from '../../support/eventually.js';
import { startWorld, type World } from '../../support/world.js';

const SAVED = { withinMs: 10_000 };
const TOUR_MS = 120_000;
const EMAIL = 'ada@example.com';

let world: World;
let chromium: Browser;
let browser: ConsoleBrowser;
let app: string;

describeWithBrowser('the console, from nothing to the first answer', () => {
  beforeAll(async () => {
    world = await startWorld({ env: { REDIS_URL: '', SIMULATED_PROVIDER: 'true', BOOTSTRAP_MANAGEMENT_KEY: '' } });
    chromium = await startBrowser();
    browser = await ConsoleBrowser.open(world, chromium);
  }, TOUR_MS);
  beforeEach(() => browser.page.setViewportSize(WIDE));
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it.each(['/', '/login'])(
    '%s, before anybody has registered → the page to register',
    async (path) => {
      await browser.go(path);
      await browser.page.getByRole('heading', { level: 1, name: 'Create account' }).waitFor();
      expect(new URL(browser.page.url()).pathname).toBe('/signup');
      expect(await browser.page.getByRole('link', { name: 'Sign in' }).count()).toBe(0);
    },
    TOUR_MS,
  );

  it(
    'registers, starts without a provider key, sends the first call → a streamed answer',
    async () => {
      const { page } = browser;
      await askForFirstAnswer(browser, EMAIL);
      await page.getByRole('link', { name: 'Open the application' }).click();
      await page.getByRole('heading', { level: 1, name: 'Journal' }).waitFor();
      app = new URL(page.url()).pathname.split('/')[2] ?? '';
      await page.getByRole('definition').filter({ hasText: '$0.0' }).first().waitFor();
    },
    TOUR_MS,
  );

  it(
    'a reload → the key is discarded, and another one can be created',
    async () => {
      const { page } = browser;
      await browser.go('/start');
      expect(await page.getByText('and is no longer available').isVisible()).toBe(true);
      expect(await page.getByText('YOUR_APPLICATION_KEY').isVisible()).toBe(true);
      await page.getByRole('button', { name: 'Create another key' }).click();
      await page
        .getByRole('tabpanel')
        .getByText(/gw_\w{48}/)
        .waitFor();
    },
    TOUR_MS,
  );

  it(
    'dialogs → no axe-core violation, closed by Escape, focus returns; no violation of the content policy',
    async () => {
      const { page } = browser;
      await browser.go('/providers');
      await page.getByRole('button', { name: 'Add provider' }).first().click();
      await page.getByRole('dialog').waitFor();
      expect(await browser.axe()).toEqual([]);
      await page.keyboard.press('Escape');
      expect(await page.getByRole('dialog').count()).toBe(0);
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('jour');
      expect(await browser.axe()).toEqual([]);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Journal' }).waitFor();
      expect(browser.complaints).toEqual([]);
    },
    TOUR_MS,
  );

  it(
    'a session that expires meanwhile → the sign-in says so, and returns to the page',
    async () => {
      const { page } = browser;
      await browser.go('/members');
      await browser.context.clearCookies();
      await page.getByRole('link', { name: 'Audit trail' }).click();
      await page.getByText('Your session has ended').waitFor();
      await browser.signIn(EMAIL);
      await page.getByRole('heading', { level: 1, name: 'Audit trail' }).waitFor();
    },
    TOUR_MS,
  );

  it(
    'origins of pages: an invalid one → an error at the field; valid ones, one per line → stored; none → no list',
    async () => {
      const { page } = browser;
      const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();
      const stored = async () => {
        const { config } = await page.evaluate<{ config: { allowed_origins?: string[] } }>(
          `fetch('/v1/admin/apps/${app}', { headers: { 'x-console-request': '1' } })
             .then((answer) => answer.json()).then((answer) => answer.app)`,
        );
        return config.allowed_origins;
      };
      await browser.go(`/apps/${app}/auth`);
      const field = page.getByLabel('Allowed origins');
      await field.fill('https://app.example.com/');
      await save();
      await page.getByText('must be exactly as browsers send it: "https://app.example.com"').first().waitFor();
      await field.fill('https://app.example.com\ncapacitor://localhost\n');
      await save();
      await eventually(
        async () => (await stored())?.join(' ') === 'https://app.example.com capacitor://localhost',
        SAVED,
      );
      await field.fill('');
      await save();
      await eventually(async () => (await stored()) === undefined, SAVED);
    },
    TOUR_MS,
  );

  it(
    'two people change one application → asks about conflicting changes and merges the rest',
    async () => {
      const { page } = browser;
      await browser.go(`/apps/${app}/settings`);
      await page.getByLabel('Application name').fill('Mine');
      const stored = await page.evaluate<{ app: { config: object; revision: number } }>(
        `fetch('/v1/admin/apps/${app}', { headers: { 'x-console-request': '1' } }).then((answer) => answer.json())`,
      );
      const { config, revision } = stored.app;
      const limits = { per_app: { requests: { per_minute: 77 } } };
      await page.evaluate(
        `fetch('/v1/admin/apps/${app}', {
           method: 'PUT',
           headers: { 'x-console-request': '1', 'content-type': 'application/json' },
           body: ${JSON.stringify(JSON.stringify({ name: 'Theirs', config: { ...config, limits }, revision }))},
         })`,
      );
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Someone else saved changes in the meantime').waitFor();
      expect(await browser.axe()).toEqual([]);
      await dialog.getByRole('button', { name: 'Keep mine' }).click();
      await dialog.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Saved.', { exact: false }).waitFor();
      await browser.go(`/apps/${app}/limits`);
      expect(await page.getByLabel('Requests per minute').first().inputValue()).toBe('77');
      await browser.go(`/apps/${app}/overview`);
      await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
    },
    TOUR_MS,
  );

  it(
    'an unsaved draft → a reload keeps it; the server’s refusal is shown at its field',
    async () => {
      const { page } = browser;
      await browser.go(`/apps/${app}/limits`);
      const minute = page.getByLabel('Requests per minute').first();
      await minute.fill('0');
      page.once('dialog', (dialog) => void dialog.accept());
      await page.reload();
      await page.getByText('You have unsaved changes.').waitFor();
      expect(await minute.inputValue()).toBe('0');
      await page.getByRole('navigation', { name: 'Parts of the application' }).getByText('Overview').click();
      await page.getByRole('status').getByRole('link', { name: 'Limits' }).click();
      const budget = page.getByLabel('USD per month (UTC)').first();
      await budget.fill('0');
      await page.getByText('0 refuses every call. Empty: no budget.').waitFor();
      await budget.fill('');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.locator('[aria-invalid=true]').waitFor();
      const described = await minute.getAttribute('aria-describedby');
      expect(described).toMatch(/-error/);
      await page.getByRole('button', { name: 'Discard' }).click();
      expect(await minute.inputValue()).toBe('77');
    },
    TOUR_MS,
  );
});
