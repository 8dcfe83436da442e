import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser } from '../../support/console/console-browser.js';
import { startWorld, type World } from '../../support/world.js';

const TASK_MS = 120_000;
/** More stops than any page has. */
const MOST_STOPS = 150;

let world: World;
let chromium: Browser;
let browser: ConsoleBrowser;
let page: Page;

/** Presses Tab until the element has the focus. */
async function tabTo(wanted: Locator): Promise<void> {
  await wanted.waitFor();
  for (let stops = 0; stops < MOST_STOPS; stops++) {
    if ((await wanted.and(page.locator(':focus')).count()) === 1) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab never came to ${wanted}`);
}

async function press(name: string | RegExp, role: 'button' | 'link' | 'tab' = 'button'): Promise<void> {
  await tabTo(page.getByRole(role, { name, exact: typeof name === 'string' }).first());
  await page.keyboard.press('Enter');
}

async function type(label: string, text: string): Promise<void> {
  await tabTo(page.getByLabel(label, { exact: true }).first());
  await page.keyboard.press('Control+a');
  await page.keyboard.type(text);
}

/** One stop leads into a group of radio buttons; the arrows choose. */
async function choose(name: string): Promise<void> {
  const wanted = page.getByRole('radio', { name });
  await wanted.waitFor();
  const first = page.getByRole('radio', { checked: true }).first();
  await tabTo(first);
  for (let turns = 0; turns < 5 && !(await wanted.isChecked()); turns++) await page.keyboard.press('ArrowDown');
  expect(await wanted.isChecked()).toBe(true);
}

const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();

describeWithBrowser('the console without a mouse', () => {
  beforeAll(async () => {
    world = await startWorld({ env: { REDIS_URL: '', SIMULATED_PROVIDER: 'true', BOOTSTRAP_MANAGEMENT_KEY: '' } });
    chromium = await startBrowser();
    browser = await ConsoleBrowser.open(world, chromium);
    page = browser.page;
  }, TASK_MS);
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it(
    'from an empty deployment to the first answer',
    async () => {
      await browser.go('/signup');
      await type('Your name', 'Ada Lovelace');
      await type('E-mail', 'ada@example.com');
      await type('Password', 'correct horse battery');
      await page.keyboard.press('Enter');
      await heading('Guided start');
      await page.keyboard.press('Tab');
      await choose('Simulated provider');
      await press('Continue');
      await type('Application name', 'Journal');
      await press('Create');
      await press('Send it from here');
      await page.getByText('Your first request has arrived').waitFor();
      await press('Open the application', 'link');
      await heading('Journal');
    },
    TASK_MS,
  );

  it(
    'a server application with a limit',
    async () => {
      await browser.go('/apps');
      await press('New application');
      await heading('New application');
      await type('Application name', 'Worker');
      await choose('Server');
      await press('Create');
      const saved = page.getByRole('button', { name: 'I have saved it' });
      await tabTo(saved);
      await page.keyboard.press('Enter');
      await heading(/^Worker/);
      await press('Limits', 'link');
      await heading('Worker: limits');
      await type('Requests per minute', '60');
      await type('USD per month (UTC)', '0.5');
      await press('Save');
      await page.getByText('Saved.', { exact: false }).waitFor();
      await page.reload();
      expect(await page.getByLabel('Requests per minute').first().inputValue()).toBe('60');
      expect(await page.getByLabel('USD per month (UTC)').first().inputValue()).toBe('0.5');
      await page.getByText('$0.00 of $0.50').waitFor();
    },
    TASK_MS,
  );

  it(
    'find the most expensive application and its last call',
    async () => {
      await browser.go('/providers');
      await page.keyboard.press('Tab');
      expect(await page.locator(':focus').textContent()).toBe('Skip to content');
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').and(page.locator(':focus')).waitFor();
      await page.keyboard.type('journ');
      await page.getByRole('option', { name: /^Journal/ }).waitFor();
      await page.keyboard.press('Enter');
      await heading('Journal');
      const tabs = page.getByRole('navigation', { name: 'Parts of the application' });
      await tabTo(tabs.getByRole('link', { name: 'Usage' }));
      await page.keyboard.press('Enter');
      await heading('Journal: usage');
      await press('Calls', 'link');
      await press(/^Details of call/);
      const dialog = page.getByRole('dialog');
      await dialog
        .getByText(/^\$0\.0/)
        .first()
        .waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await page.locator(':focus').getAttribute('aria-label')).toMatch(/^Details of call/);
      expect(browser.complaints).toEqual([]);
    },
    TASK_MS,
  );
});
