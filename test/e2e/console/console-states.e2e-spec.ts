import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { newOrganization } from '../../support/accounts/people.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser } from '../../support/console/console-browser.js';
import { startWorld, type World } from '../../support/world.js';

const PAGE_MS = 60_000;
const CONFIG = {
  authentication: { type: 'api_key' },
  routing: { providers: { mode: 'all' }, model_rewrites: {} },
};
/** Tables that scroll sideways. */
const SIDEWAYS = `[...document.querySelectorAll('section:has(> table)')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map((part) => part.ariaLabel)`;
const PAGES = [
  ...['/', '/start', '/apps', '/apps/:app/overview', '/apps/:app/users', '/apps/:app/usage', '/apps/:app/auth-events'],
  ...[
    '/providers',
    '/providers/gateways',
    '/access',
    '/members',
    '/webhooks',
    '/audit',
    '/health',
    '/settings/security',
  ],
];

let world: World;
let chromium: Browser;
let shared: ConsoleBrowser;
/** Has one application, which no test changes. */
let account: Awaited<ReturnType<typeof withApps>>;

async function open(cookie?: string): Promise<ConsoleBrowser> {
  await shared.handTo(cookie);
  return shared;
}

async function withApps(...names: readonly string[]) {
  const { owner } = await newOrganization(world);
  const ids: string[] = [];
  for (const name of names) {
    ids.push((await owner.client.post('/v1/admin/apps', { name, config: CONFIG })).body.app.id);
  }
  const provider = { type: 'openai', name: 'Ours', secret: 'sk-of-the-states' };
  expect((await owner.client.post('/v1/admin/providers', provider)).status).toBe(201);
  return { owner, ids };
}

describeWithBrowser('what the console shows while it asks, and when no answer comes', () => {
  beforeAll(async () => {
    world = await startWorld({ env: { REDIS_URL: '' } });
    chromium = await startBrowser();
    shared = await ConsoleBrowser.open(world, chromium);
    account = await withApps('Journal');
  }, PAGE_MS);
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it(
    'AI clients without a public address → names the required setting instead of a URL that fails',
    async () => {
      const { owner } = await newOrganization(world);
      const browser = await open(owner.cookie);
      await browser.go('/access');
      await browser.page.getByText('AI clients cannot connect to this gateway yet').waitFor();
      await browser.page.getByText('PUBLIC_URL', { exact: true }).waitFor();
      expect(await browser.page.getByText('/mcp').count()).toBe(0);
    },
    PAGE_MS,
  );

  it(
    'a browser that reports offline, with the gateway on this machine → every page shows its content',
    async () => {
      const { owner, ids } = account;
      const browser = await ConsoleBrowser.open(world, chromium, owner.cookie);
      const { page } = browser;
      await page.addInitScript(`Object.defineProperty(navigator, 'onLine', { get: () => false })`);
      for (const path of PAGES) {
        await browser.go(path.replace(':app', ids[0] ?? ''));
        await page.getByRole('heading', { level: 1 }).waitFor();
        expect(await page.locator('[aria-busy=true]').count()).toBe(0);
        expect(await page.getByRole('alert').filter({ hasText: 'does not answer' }).count()).toBe(0);
      }
      await browser.close();
    },
    2 * PAGE_MS,
  );

  it.each([
    ...PAGES.map((path) => ({ path, to: 'anything', unanswered: /\/v1\// })),
    ...PAGES.map((path) => ({ path, to: 'all but who is signed in', unanswered: /\/v1\/(?!admin\/session)/ })),
  ])(
    '$path, no answer to $to → one alert, no skeleton; a retry loads the page',
    async ({ path, unanswered }) => {
      const { owner, ids } = account;
      const browser = await open(owner.cookie);
      const { page } = browser;
      await page.route(unanswered, (route) => route.abort('connectionrefused'));
      await page.goto(world.baseUrl + path.replace(':app', ids[0] ?? ''));
      const alert = page.getByRole('alert').filter({ hasText: 'The gateway does not answer' });
      await alert.waitFor();
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
      expect(await page.getByRole('alert').count()).toBe(1);
      await page.unroute(unanswered);
      await alert.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      await alert.waitFor({ state: 'detached' });
      await page.getByText('Not loaded.').first().waitFor({ state: 'detached' });
    },
    PAGE_MS,
  );

  it.each(['/recover', '/reset', '/invite'])(
    '%s, a page for people who are not signed in → stays, and does not redirect to the sign-in',
    async (path) => {
      const browser = await open();
      const { page } = browser;
      await browser.go(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(new URL(page.url()).pathname).toBe(path);
      expect(await browser.axe()).toEqual([]);
      expect(browser.complaints).toEqual([]);
    },
    PAGE_MS,
  );

  it(
    'an answer of 500 → the gateway’s message in place of the content, with a retry button',
    async () => {
      const { owner } = await withApps('Journal');
      const browser = await open(owner.cookie);
      const { page } = browser;
      const error = { code: 'internal_error', message: 'An internal error occurred.' };
      await page.route('**/v1/admin/members', (route) => route.fulfill({ status: 500, json: { error } }));
      await page.goto(`${world.baseUrl}/members`);
      const alert = page.getByRole('alert').filter({ hasText: 'An internal error occurred.' });
      const again = alert.getByRole('button', { name: 'Try again' });
      // The page retries automatically before it leaves that to the person.
      await again.and(page.locator(':not([aria-disabled])')).waitFor();
      await page.unroute('**/v1/admin/members');
      await again.click();
      await page.getByRole('table', { name: 'Members' }).waitFor();
      expect(await alert.count()).toBe(0);
    },
    PAGE_MS,
  );

  it(
    'a call refused for its key → the page says that nothing was recorded, and stops polling',
    async () => {
      const { owner, ids } = await withApps('Journal');
      const browser = await open(owner.cookie);
      const { page } = browser;
      await browser.go(`/apps/${ids[0]}/overview`);
      await page.getByRole('button', { name: 'Try it' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Application key').fill('gw_of_nobody');
      await dialog.getByLabel('Model').fill('gpt-4o-mini');
      await dialog.getByRole('button', { name: 'Send' }).click();
      await dialog.getByText('401').waitFor();
      await dialog.getByText('Not recorded as a separate event').waitFor();
      expect(await page.locator('[aria-busy=true]').count()).toBe(0);
    },
    PAGE_MS,
  );

  it(
    'a pending search → results of the previous one cannot be used',
    async () => {
      const { owner } = await withApps('Journal', 'Worker');
      const browser = await open(owner.cookie);
      const { page } = browser;
      await browser.go('/apps');
      let answer = () => {};
      const held = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await page.route('**/v1/admin/apps?*query=work*', async (route) => {
        await held;
        await route.continue();
      });
      await page.getByLabel('Search applications').fill('work');
      const older = page.locator('table a', { hasText: 'Journal' });
      await older.and(page.locator('[inert] *')).waitFor();
      answer();
      await older.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: /^Worker/ }).click();
      await page.getByRole('heading', { level: 1, name: 'Worker' }).waitFor();
    },
    PAGE_MS,
  );

  it(
    'filters, sorting and pages of lists → in the URL, so that a reload shows the same; unknown options are ignored',
    async () => {
      const { owner, ids } = await withApps('Journal', 'Worker');
      const browser = await open(owner.cookie);
      const { page } = browser;
      await browser.go('/apps');
      await page.getByLabel('Search applications').fill('o');
      await page.getByLabel('Status').selectOption('active');
      await page.getByRole('button', { name: 'Application', exact: true }).click();
      await page.waitForURL(/sort=name/);
      const rows = async () => page.getByRole('table').getByRole('link').allTextContents();
      await browser.settled();
      const before = await rows();
      await page.reload();
      await browser.settled();
      expect(await page.getByLabel('Search applications').inputValue()).toBe('o');
      expect(await page.getByLabel('Status').inputValue()).toBe('active');
      expect(await rows()).toEqual(before);
      await browser.go('/apps?status=none&sort=colour');
      expect(await page.getByLabel('Status').inputValue()).toBe('any');
      expect(await rows()).toHaveLength(2);
      await browser.go('/audit?action=app.created');
      expect(await page.getByLabel('Action').inputValue()).toBe('app.created');
      const month = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 1, 1));
      const earlier = month.toISOString().slice(0, 7);
      await browser.go(`/apps/${ids[0]}/users?query=ada&status=blocked&month=${earlier}`);
      expect(await page.getByLabel('Search users').inputValue()).toBe('ada');
      expect(await page.getByLabel('Month (UTC)').inputValue()).toBe(earlier);
      await page.getByLabel('Show').selectOption('any');
      await page.waitForURL((url) => !url.searchParams.has('status') && url.searchParams.get('query') === 'ada');
      expect(browser.complaints).toEqual([]);
    },
    PAGE_MS,
  );

  it(
    'tables on a narrow screen → cards: cost and actions next to the name, everything else below, no horizontal scrolling',
    async () => {
      const { owner, ids } = await withApps('Journal');
      expect((await owner.client.post(`/v1/admin/apps/${ids[0]}/keys`, { name: 'Server' })).status).toBe(201);
      const browser = await open(owner.cookie);
      const { page } = browser;
      await page.setViewportSize({ width: 390, height: 800 });
      for (const [path, caption, lead] of [
        ['/apps', 'Applications with the usage of this month', page.getByText('$0.00').last()],
        ['/providers', 'Providers', page.getByRole('button', { name: 'Change Ours' })],
        [`/apps/${ids[0]}/auth`, 'Application keys', page.getByRole('button', { name: 'Revoke Server' })],
      ] as const) {
        await browser.go(path);
        const region = page.getByRole('region', { name: caption });
        await lead.waitFor();
        const [card, shown] = [await region.locator('tbody tr').first().boundingBox(), await lead.boundingBox()];
        expect(shown?.x).toBeGreaterThan(0);
        expect((shown?.x ?? 0) + (shown?.width ?? 0)).toBeLessThanOrEqual(390);
        expect((shown?.y ?? 0) - (card?.y ?? 0)).toBeLessThan((card?.height ?? 0) / 2 + 20);
        expect(await page.evaluate(SIDEWAYS)).toEqual([]);
        expect(await browser.axe()).toEqual([]);
      }
      await browser.go('/apps');
      expect(await page.getByRole('table').getByText('Requests').last().isVisible()).toBe(true);
      await browser.go('/providers');
      const label = page.getByRole('region', { name: 'Providers' }).locator('tbody').getByText('Reached by').first();
      for (const [width, isCard] of [
        [1280, false],
        [820, true],
      ] as const) {
        await page.setViewportSize({ width, height: 800 });
        expect(await label.isVisible()).toBe(isCard);
      }
      const last = await page.getByRole('button', { name: 'Delete Ours' }).boundingBox();
      expect((last?.x ?? 820) + (last?.width ?? 0)).toBeLessThan(820);
      expect(await page.evaluate(SIDEWAYS)).toEqual([]);
    },
    PAGE_MS,
  );
});
