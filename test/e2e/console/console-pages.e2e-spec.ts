import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser, WIDE } from '../../support/console/console-browser.js';
import { type FullAccount, fillAccount } from '../../support/console/full-account.js';
import { Pictures } from '../../support/console/pictures.js';
import { eventually } from '../../support/eventually.js';
import { startWorld, type World } from '../../support/world.js';

const PAGE_MS = 120_000;
const SCROLLED = { withinMs: 30_000 };
/** Height of the bar at the top. */
const BAR_PIXELS = 48;
/** The share of a page that may differ from its reference; 0.003 was measured between runs. */
const MOST_DIFFERENT = 0.02;
/** Bars of charts move with the days. */
const MOST_DIFFERENT_CHART = 0.1;
/** Pictures of the README, light and dark. */
const README_PICTURES = fileURLToPath(new URL('../../../docs/images', import.meta.url));
const WIDTHS = { narrow: 390, middle: 820, wide: WIDE.width };
/** References are half as large as the page. */
const HALF = 0.5;
/** Tables with columns beyond the edge of their card: nothing says that they scroll. */
const CUT_TABLES = `[...document.querySelectorAll('section:has(> table)')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map((section) => section.getAttribute('aria-label'))`;
const THEMES = ['light', 'dark'] as const;
/** Another theme is other colours of the same page: these rules of axe-core judge colours. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];
const PAGES = [
  ...[
    '/',
    '/start',
    '/usage',
    '/models',
    '/apps',
    '/apps/new',
    '/apps/:app/overview',
    '/apps/:app/auth',
    '/apps/:app/proxy',
  ],
  ...['/apps/:app/endpoints', '/apps/:app/limits', '/apps/:app/users', '/apps/:app/usage'],
  ...['/apps/:app/auth-events', '/apps/:app/settings', '/providers', '/providers/gateways', '/access'],
  ...[
    '/members',
    '/webhooks',
    '/webhooks/:webhook',
    '/audit',
    '/health',
    '/settings/profile',
    '/settings/security',
    '/settings/mail',
  ],
];
/** Of people who are not signed in. */
const FOR_ANYBODY = ['/login', '/signup'];

let world: World;
let chromium: Browser;
let account: FullAccount;
let browser: ConsoleBrowser;
let stranger: ConsoleBrowser;
let pictures: Pictures;

const nameOf = (path: string, width: string, theme: string) =>
  `${
    path === '/'
      ? 'first'
      : path
          .slice(1)
          .replace(/:(?:app\/)?/, '')
          .replaceAll('/', '-')
  }.${width}.${theme}`;

async function look(at: ConsoleBrowser, path: string): Promise<void> {
  const { page } = at;
  await at.go(path.replace(':app', account.appId).replace(':webhook', account.webhookId));
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
  expect(await page.title()).toMatch(/^.+ · Gateway$/);
  const differences = new Map<string, number>();
  const most = path.endsWith('/usage') || path === '/' ? MOST_DIFFERENT_CHART : MOST_DIFFERENT;
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme });
    for (const [width, pixels] of Object.entries(WIDTHS)) {
      await page.setViewportSize({ width: pixels, height: WIDE.height });
      expect(await at.axe(colorScheme === 'light' ? undefined : COLOR_RULES)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      expect(await page.evaluate(CUT_TABLES)).toEqual([]);
      const name = nameOf(path, width, colorScheme);
      differences.set(name, await pictures.differenceOf(page, name));
    }
  }
  expect([...differences].filter(([, share]) => share > most)).toEqual([]);
  expect(at.complaints).toEqual([]);
}

describeWithBrowser('every page of the console, for an account of some months', () => {
  beforeAll(async () => {
    world = await startWorld({ env: { REDIS_URL: '', SIMULATED_PROVIDER: 'true' } });
    account = await fillAccount(world);
    chromium = await startBrowser();
    browser = await ConsoleBrowser.open(world, chromium, account.cookie, HALF);
    stranger = await ConsoleBrowser.open(world, chromium, undefined, HALF);
    pictures = await Pictures.open(chromium);
  }, PAGE_MS);
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it.each(PAGES)(
    '%s → one heading, its own title, no axe-core violation in both themes and three widths, and unchanged appearance',
    (path) => look(browser, path),
    PAGE_MS,
  );

  it.each(FOR_ANYBODY)('%s, not signed in → the same', (path) => look(stranger, path), PAGE_MS);

  it(
    'hundreds of calls, scrolled → loaded near the end, and only rows near the screen are in the page',
    async () => {
      const { page } = browser;
      await page.setViewportSize(WIDE);
      await browser.go(`/apps/${account.appId}/usage?view=calls`);
      const calls = page.getByRole('table', { name: 'Calls' });
      await calls.waitFor();
      const count = async () => Number(await calls.getAttribute('aria-rowcount'));
      await eventually(async () => {
        await page.mouse.move(WIDE.width / 2, WIDE.height / 2);
        await page.mouse.wheel(0, 3_000);
        return (await count()) > 400;
      }, SCROLLED);
      expect(await calls.getByRole('row').count()).toBeLessThan(100);
      await page.keyboard.press('Home');
      await calls.locator('tr[aria-rowindex="2"]').waitFor();
      // A page that is still loading has its heading below the bar at the top.
      const heading = page.getByRole('heading', { level: 1 });
      await eventually(async () => {
        await page.keyboard.press('Home');
        return ((await heading.boundingBox())?.y ?? 0) > BAR_PIXELS;
      }, SCROLLED);
      expect(await browser.axe()).toEqual([]);
    },
    PAGE_MS,
  );

  it('pictures of different pages, themes or widths → different, so that a broken page is detected', async () => {
    const between = (...names: [string, string]) => pictures.differenceBetween(...names);
    expect(await between('apps.wide.light', 'apps.wide.dark')).toBeGreaterThan(0.9);
    expect(await between('apps.wide.light', 'providers.wide.light')).toBeGreaterThan(MOST_DIFFERENT);
    expect(await between('apps-usage.wide.dark', 'apps-overview.wide.dark')).toBeGreaterThan(MOST_DIFFERENT_CHART);
    expect(await between('members.narrow.light', 'audit.narrow.light')).toBeGreaterThan(MOST_DIFFERENT);
    expect(await between('login.wide.light', 'signup.wide.light')).toBeGreaterThan(MOST_DIFFERENT);
  });

  it.each(THEMES)(
    'the image of the README, %s',
    async (colorScheme) => {
      const sharp = await ConsoleBrowser.open(world, chromium, account.cookie);
      const { page } = sharp;
      await page.emulateMedia({ colorScheme });
      await sharp.go(`/apps/${account.appId}/usage`);
      await page.locator('svg.recharts-surface').first().waitFor();
      const picture = await page.screenshot({ animations: 'disabled' });
      expect(picture.length).toBeGreaterThan(20_000);
      if (process.env.WRITE_PICTURES === '1') writeFileSync(`${README_PICTURES}/console-${colorScheme}.png`, picture);
    },
    PAGE_MS,
  );
});
