import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Browser, Locator } from 'playwright-core';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { newOrganization, newPerson } from '../../support/accounts/people.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser, WIDE } from '../../support/console/console-browser.js';
import { eventually } from '../../support/eventually.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const TASK_MS = 120_000;
const SOON = { withinMs: 20_000 };
const NAMED_USERS = { type: 'api_key', end_user: { source: 'header' } };
/** Three million input tokens at 2 dollars a million. */
const SIX_DOLLARS = json(200, { usage: { input_tokens: 3_000_000, output_tokens: 0 } });
const CENTS = json(200, { usage: { input_tokens: 10_000, output_tokens: 0 } });
const FAILED = json(500, { error: 'down' });
/** Ids that URL software, proxies and templates change. */
const STRANGE_IDS = ['a/b', '50%', '100%25', 'who?me=1&you', '#tag', 'a+b c', 'Ünïcødé 🚀', '"><b>', '..%2F..'];

let world: World;
let chromium: Browser;
let browser: ConsoleBrowser;
let client: ProxyClient;
let acts = 0;

async function call(user: string): Promise<void> {
  const headers = ['x-end-user-id', user];
  await client.call('v1/responses', { body: { model: 'gpt-4.1' }, headers });
}

async function click(target: Locator): Promise<void> {
  acts += 1;
  await target.click();
}

async function type(target: Locator, text: string): Promise<void> {
  acts += 1;
  await target.fill(text);
}

/** Adds limits of tokens to those of each user. */
async function limitTokens(tokens: object): Promise<void> {
  const path = `/v1/admin/apps/${client.appId}`;
  const { name, config, revision } = (await world.api.get(path)).body.app;
  const limits = { ...config.limits, per_user: { ...config.limits.per_user, tokens } };
  const { status } = await world.api.put(path, { name, config: { ...config, limits }, revision });
  expect(status).toBe(200);
}

const link = (name: string | RegExp) => browser.page.getByRole('link', { name, exact: typeof name === 'string' });
const button = (name: string) => browser.page.getByRole('button', { name, exact: true });
const card = (title: string) =>
  browser.page
    .locator('section')
    .filter({ has: browser.page.getByRole('heading', { level: 2, name: title, exact: true }) });
const rowsOf = (table: string) => browser.page.getByRole('table', { name: table }).getByRole('row');

describeWithBrowser('users, their budgets, and the overview', () => {
  beforeAll(async () => {
    world = await startWorld({ env: { REDIS_URL: '' } });
    client = await ProxyClient.create(world, { authentication: NAMED_USERS });
    world.upstream.script(SIX_DOLLARS);
    await call('spender');
    world.upstream.script(CENTS);
    await call('frugal');
    await client.events(2);
    const organizationId = await firstOrganizationId(world.dataSource);
    chromium = await startBrowser();
    browser = await ConsoleBrowser.open(world, chromium, (await newPerson(world, { organizationId })).cookie);
  }, TASK_MS);
  beforeEach(() => browser.page.setViewportSize(WIDE));
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it(
    'set a five-dollar budget and find who reaches it → at most four actions',
    async () => {
      const { page } = browser;
      await browser.go(`/apps/${client.appId}/overview`);
      acts = 0;
      await click(link('Limits'));
      await type(card('Each user').getByLabel('USD per month (UTC)'), '5');
      await click(button('Save'));
      await page.getByText('Saved.', { exact: false }).waitFor();
      await click(link('Who is at the limit'));
      await page.getByText('each may spend $5.00 a month').waitFor();
      expect(await rowsOf('Users with the usage of the month').allInnerTexts()).toEqual([
        expect.stringContaining('Budget used'),
        expect.stringMatching(/^spender[\s\S]*\$6\.00[\s\S]*120%/),
      ]);
      expect(acts).toBeLessThanOrEqual(4);
      expect(await browser.axe()).toEqual([]);
    },
    TASK_MS,
  );

  it(
    'filters of users → in the URL: a reload, and the link sent to another person, show the same',
    async () => {
      const { page } = browser;
      await browser.go(`/apps/${client.appId}/users`);
      expect(await rowsOf('Users with the usage of the month').count()).toBe(3);
      await button('Cost').click();
      await page.getByLabel('Search users').fill('r');
      await page.getByLabel('Show').selectOption({ label: 'Active' });
      await eventually(async () => new URL(page.url()).search === '?sort=cost&query=r&status=active', SOON);
      await page.reload();
      await browser.settled();
      expect(await page.getByLabel('Search users').inputValue()).toBe('r');
      expect(await page.getByRole('columnheader', { name: 'Cost' }).getAttribute('aria-sort')).toBe('descending');
      const [, first = '', second = ''] = await rowsOf('Users with the usage of the month').allInnerTexts();
      expect([first, second]).toEqual([expect.stringMatching(/^spender/), expect.stringMatching(/^frugal/)]);
      // A user is at the limit; only the search finds nobody.
      await page.getByLabel('Show').selectOption({ label: 'At the limit' });
      await page.getByLabel('Search users').fill('nobody-of-this-name');
      await page.getByText('No user of this application matches.').waitFor();
      expect(await page.getByText('Nobody is at the limit').count()).toBe(0);
    },
    TASK_MS,
  );

  it(
    'ids that URLs encode → each has its page, with its calls; blocked and unblocked there',
    async () => {
      const { page } = browser;
      await world.dataSource.query(
        `INSERT INTO app_users (organization_id, app_id, id, status, created_at)
         SELECT organization_id, id, unnest($2::text[]), 'active', now() FROM apps WHERE id = $1`,
        [client.appId, STRANGE_IDS],
      );
      await browser.go(`/apps/${client.appId}/users`);
      for (const id of STRANGE_IDS) {
        await link(id).click();
        await page.getByRole('heading', { level: 2, name: id, exact: true }).waitFor();
        await page.reload();
        await page.getByRole('heading', { level: 2, name: id, exact: true }).waitFor();
        await button(`Block ${id}`).click();
        const question = page.getByRole('dialog', { name: `Block ${id}?` });
        await question.getByText('calls within ten seconds').waitFor();
        await question.getByRole('button', { name: 'Cancel' }).click();
        expect(await button(`Unblock ${id}`).count()).toBe(0);
        await button(`Block ${id}`).click();
        await question.getByRole('button', { name: 'Block', exact: true }).click();
        await button(`Unblock ${id}`).click();
        await button(`Block ${id}`).waitFor();
        await link('← Users').click();
      }
      expect(browser.complaints).toEqual([]);
    },
    TASK_MS,
  );

  it(
    'a user → limits and remainders, the month, calls and sign-ins; no axe-core violation, even on a narrow screen',
    async () => {
      const { page } = browser;
      await browser.go(`/apps/${client.appId}/users?sort=cost`);
      await link('spender').click();
      await page.getByText('$6.00 of $5.00 (120%)').waitFor();
      await page.getByRole('meter', { name: 'Budget of this month (UTC), $0.00 left' }).waitFor();
      await limitTokens({ per_minute: 50_000, per_day: 4_000_000 });
      await page.reload();
      await page.getByText('0 of 4,000,000 (0%)').waitFor();
      await page.getByRole('meter', { name: 'Tokens of today (UTC), 4,000,000 left' }).waitFor();
      await page.getByText('Tokens per minute').waitFor();
      await page.getByRole('heading', { level: 2, name: 'Cost by day' }).waitFor();
      await eventually(async () => (await rowsOf('Calls').count()) === 2, SOON);
      await page.getByText('No sign-ins of this user').waitFor();
      for (const width of [390, WIDE.width]) {
        await page.setViewportSize({ ...WIDE, width });
        expect(await browser.axe()).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      }
      expect(browser.complaints).toEqual([]);
    },
    TASK_MS,
  );

  it(
    'the overview → shows what needs attention, each with a link to fix it; removed once fixed',
    async () => {
      const { page } = browser;
      const attention = card('Needs attention');
      world.upstream.script(FAILED);
      for (let time = 0; time < 3; time++) await call('frugal');
      await client.events(5);
      await browser.go('/');
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await attention.getByText('is failing').waitFor();
      expect(await browser.axe()).toEqual([]);
      await attention.getByRole('link', { name: 'See users' }).click();
      await page.getByText('1 of 1; each may spend $5.00 a month').waitFor();
      expect(await page.getByLabel('Show').inputValue()).toBe('near_limit');
      expect(await link('spender').count()).toBe(1);
      world.upstream.script(CENTS);
      await call('frugal');
      await client.events(6);
      await browser.go('/');
      await attention.getByText('have used 80%').or(attention.getByText('has used 80%')).waitFor();
      expect(await attention.getByText('is failing').count()).toBe(0);
      expect(browser.complaints).toEqual([]);
    },
    TASK_MS,
  );

  it(
    'a person without an application → / leads to the guided start',
    async () => {
      const beginner = await ConsoleBrowser.open(world, chromium, (await newOrganization(world)).owner.cookie);
      await beginner.go('/');
      await beginner.page.getByRole('heading', { level: 1, name: 'Guided start' }).waitFor();
      await beginner.close();
    },
    TASK_MS,
  );
});
