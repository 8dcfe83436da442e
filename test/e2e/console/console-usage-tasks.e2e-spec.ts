import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { newOrganization } from '../../support/accounts/people.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser } from '../../support/console/console-browser.js';
import { type EventMembers, storeEvents } from '../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../support/world.js';

const TASK_MS = 120_000;
const FIRST_PAGE = '/apps';

let world: World;
let chromium: Browser;
let browser: ConsoleBrowser;
let page: Page;
/** Actions of the person since the first page: a click, a choice, a text. */
let acts: number;

async function act(what: Promise<unknown>): Promise<void> {
  acts++;
  await what;
  await browser.settled();
}

/** A month before this one, and its name in the list of periods. */
function lastMonth(): { readonly at: string; readonly month: string; readonly name: string } {
  const now = new Date();
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
  const month = first.toISOString().slice(0, 7);
  const name = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(first);
  return { at: `${month}-15T12:00:00Z`, month, name };
}

describeWithBrowser('tasks of an operator on the usage page', () => {
  beforeAll(async () => {
    world = await startWorld({ env: { REDIS_URL: '', SIMULATED_PROVIDER: 'true' } });
    const { organizationId, owner } = await newOrganization(world);
    const of = { organization_id: organizationId, app_id: 'journal-abc123' };
    const recent = new Date(Date.now() - 60_000).toISOString();
    const events: Partial<EventMembers>[] = [
      {
        at: recent,
        user_id: 'ann',
        endpoint_slug: 'summarize',
        status: 'blocked_app_rate',
        cost_source: null,
        model: 'gpt-4.1',
      },
      { at: recent, user_id: 'bob', cost_nano_usd: 30_000_000_000 },
      { at: lastMonth().at, user_id: 'bob', model: 'gpt-4.1', cost_nano_usd: 1_234_567_891, requests: 3 },
      { at: lastMonth().at, user_id: 'bob', model: '=HYPERLINK("x")', cost_nano_usd: 1 },
    ];
    for (const event of events) await storeEvents(world.dataSource, { ...of, ...event });
    await world.dataSource.query(
      `UPDATE usage_events SET refusal = jsonb_build_object('code', 'app_rate_limited', 'reason', 'user_day_limit_reached',
         'message', 'The limit of 300 requests per UTC day for one user of this application is reached.',
         'until_ms', (extract(epoch FROM now()) * 1000 + 3600000)::bigint)
       WHERE status = 'blocked_app_rate'`,
    );
    chromium = await startBrowser();
    browser = await ConsoleBrowser.open(world, chromium, owner.cookie);
    page = browser.page;
  }, TASK_MS);
  beforeEach(async () => {
    await browser.go(FIRST_PAGE);
    acts = 0;
  });
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it(
    'why was she refused this morning → three actions: which limit and until when; the URL shows the same to another person',
    async () => {
      await act(page.getByRole('link', { name: 'Usage', exact: true }).click());
      await act(page.getByRole('link', { name: 'Calls', exact: true }).click());
      await act(page.getByLabel('User', { exact: true }).fill('ann'));
      const rows = page.getByRole('table', { name: 'Calls' }).getByRole('row');
      await page.waitForURL(/user=ann/);
      await browser.settled();
      expect(await rows.count()).toBe(2);
      const told = await rows.nth(1).innerText();
      expect(told).toContain('Refused: request limit');
      expect(told).toContain('The limit of 300 requests per UTC day for one user of this application is reached.');
      expect(told).toMatch(/Until .*\d/);
      expect(told).toContain('summarize');
      expect(acts).toBeLessThanOrEqual(3);
      const address = new URL(page.url());
      await browser.go(address.pathname + address.search);
      expect(await page.getByLabel('User', { exact: true }).inputValue()).toBe('ann');
      expect(await rows.count()).toBe(2);
      await page.getByLabel('Reason').selectOption('model_not_allowed');
      await page.getByText('No such calls in this period').waitFor();
      expect(await browser.axe()).toEqual([]);
      expect(browser.complaints).toEqual([]);
    },
    TASK_MS,
  );

  it(
    'what did a model cost last month, as CSV → at most four actions, exact to the nano-dollar',
    async () => {
      const { month, name } = lastMonth();
      await act(page.getByRole('link', { name: 'Usage', exact: true }).click());
      await act(page.getByLabel('Period (UTC)').selectOption({ label: name }));
      const saved = page.waitForEvent('download');
      await act(page.getByRole('button', { name: 'Export CSV' }).click());
      const file = await saved;
      expect(file.suggestedFilename()).toMatch(new RegExp(`^usage-by-model-${month}-01-to-${month}-\\d\\d\\.csv$`));
      const lines = readFileSync(await file.path(), 'utf8')
        .trim()
        .split('\r\n');
      const place = lines[0]?.split(',').indexOf('"cost_usd"') ?? -1;
      expect(lines.find((line) => line.startsWith('"gpt-4.1"'))?.split(',')[place]).toBe('"1.234567891"');
      expect(lines.some((line) => line.startsWith(`"'=HYPERLINK`))).toBe(true);
      expect(lines).toHaveLength(3);
      expect(acts).toBeLessThanOrEqual(4);
      const shares = page.getByRole('table', { name: 'Usage by model' });
      expect(await shares.getByRole('row', { name: /gpt-4\.1/ }).innerText()).toContain('$1.23');
      await page.getByText('Shares are of $1.23, all cost of the period.').waitFor();
    },
    TASK_MS,
  );

  it(
    'calls of the account → filtered by one application in the URL; a top model of the overview → its calls',
    async () => {
      const [{ organization_id }] = await world.dataSource.query('SELECT organization_id FROM usage_events LIMIT 1');
      const at = new Date().toISOString();
      await storeEvents(world.dataSource, { ...{ organization_id, app_id: 'worker-def456', user_id: 'cid', at } });
      await browser.go('/usage?view=calls');
      const calls = page.getByRole('table', { name: 'Calls' });
      await calls.getByText('cid').waitFor();
      await page.getByLabel('Application', { exact: true }).selectOption('journal-abc123');
      await calls.getByText('cid').waitFor({ state: 'detached' });
      await calls.getByText('bob').waitFor();
      expect(new URL(page.url()).searchParams.get('app')).toBe('journal-abc123');
      await browser.go('/');
      await page.getByRole('table', { name: 'Top models by cost' }).getByRole('link', { name: 'gpt-4.1' }).click();
      await calls.getByText('ann').waitFor();
      const asked = Object.fromEntries(new URL(page.url()).searchParams);
      expect(asked).toMatchObject({ view: 'calls', model: 'gpt-4.1', period: '30' });
    },
    TASK_MS,
  );

  it.each(['', '?view=calls', '?view=corrections', '?period=today', '?measure=errors&by=user'])(
    '/usage%s → no axe-core violation, even narrow and dark, and nothing wider than the page',
    async (address) => {
      await browser.go(`/usage${address}`);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const width of [390, 1280]) {
          await page.setViewportSize({ width, height: 860 });
          expect(await browser.axe()).toEqual([]);
          expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
        }
      }
      expect(browser.complaints).toEqual([]);
    },
    TASK_MS,
  );
});
