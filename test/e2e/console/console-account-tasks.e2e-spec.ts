import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { newOrganization, newPerson, type Person } from '../../support/accounts/people.js';
import { rawServerConfig } from '../../support/apps/app-configs.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser, WIDE } from '../../support/console/console-browser.js';
import { CountedActs } from '../../support/console/counted-acts.js';
import { freePort } from '../../support/platform/gateway-process.js';
import { startWorld, type World } from '../../support/world.js';

const TASK_MS = 60_000;
const NARROW = { width: 390, height: 844 };

let world: World;
let chromium: Browser;
let browser: ConsoleBrowser;
let owner: Person;
let organizationId: string;
let app: string;

describeWithBrowser('tasks of the owner of an account, by acts', () => {
  beforeAll(async () => {
    const port = await freePort();
    world = await startWorld({ env: { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` } });
    chromium = await startBrowser();
    ({ organizationId, owner } = await newOrganization(world));
    for (const slug of ['openai', 'openai-backup']) {
      await owner.client.post('/v1/admin/providers', { type: 'openai', name: slug, slug, secret: 'sk-of-a-task' });
    }
    const limits = { per_app: { requests: { per_day: 500 } } };
    const config = { ...rawServerConfig(), limits };
    app = (await owner.client.post('/v1/admin/apps', { name: 'Notes', config })).body.app.id;
    const other = await newPerson(world, { organizationId, role: 'admin' });
    await world.dataSource.query("UPDATE identities SET name = 'Charles Babbage' WHERE id = $1", [other.identityId]);
    await other.client.put(`/v1/admin/apps/${app}`, {
      ...{ name: 'Notes', revision: 1 },
      config: { ...config, limits: { per_app: { requests: { per_day: 900 } } } },
    });
    await world.dataSource.query("UPDATE identities SET name = '=1+1' WHERE id = $1", [owner.identityId]);
    browser = await ConsoleBrowser.open(world, chromium, owner.cookie);
  }, TASK_MS);

  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it(
    'find who changed a limit, and its old value → at most 3 actions',
    async () => {
      const { page } = browser;
      const acts = new CountedActs();
      await browser.go('/apps');
      await acts.click(page.getByRole('link', { name: 'Audit trail' }));
      await acts.choose(page.getByLabel('Action'), 'Changed application');
      const row = page.getByRole('row').filter({ hasText: 'limits.per_app.requests.per_day' });
      await row.waitFor();
      expect(await row.textContent()).toMatch(/Charles Babbage.*Notes.*limits\.per_app\.requests\.per_day 500 → 900/s);
      expect(acts.count).toBeLessThanOrEqual(3);
    },
    TASK_MS,
  );

  it(
    'filters → in the URL, kept by a reload; a person and a period without entries → the page says so',
    async () => {
      const { page } = browser;
      await browser.go('/audit?action=app.replaced');
      await page.getByLabel('Person').selectOption({ label: 'Charles Babbage' });
      await page.getByLabel('Time').selectOption({ label: 'Last 7 days' });
      expect(new URL(page.url()).search).toMatch(/^\?action=app\.replaced&person=user_\w+&time=7$/);
      await page.reload();
      await browser.settled();
      expect(await page.getByLabel('Person').locator('option:checked').textContent()).toBe('Charles Babbage');
      expect(await page.getByRole('row').count()).toBe(2);
      await page.getByLabel('Action').selectOption({ label: 'Added provider' });
      await page.getByText('No entry matches.').waitFor();
      expect(await browser.axe()).toEqual([]);
    },
    TASK_MS,
  );

  it(
    'export of the trail → all matching entries, with old and new values, and no formulas',
    async () => {
      const { page } = browser;
      await browser.go('/audit');
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ]);
      expect(file.suggestedFilename()).toBe('audit-trail.csv');
      const lines = readFileSync(await file.path(), 'utf8').split('\r\n');
      expect(lines[0]).toMatch(/^id,created_at,.*,path,old_value,new_value,details$/);
      expect(lines.find((line) => line.includes('limits.per_app.requests.per_day'))).toContain(
        'limits.per_app.requests.per_day,500,900',
      );
      expect(lines.some((line) => line.includes(",'=1+1,"))).toBe(true);
      for (const line of lines) expect(line).not.toMatch(/(^|,)"?[=+\-@]/);
    },
    TASK_MS,
  );

  it(
    'connect an AI client → its URL is copied in at most 4 actions and is the one that the gateway declares',
    async () => {
      const { page } = browser;
      await browser.context.grantPermissions(['clipboard-read', 'clipboard-write']);
      const acts = new CountedActs();
      await browser.go('/apps');
      await acts.click(page.getByRole('link', { name: 'Access' }));
      await acts.click(page.getByRole('tab', { name: 'Claude Code' }));
      await acts.click(page.getByRole('tabpanel').getByRole('button', { name: 'Copy' }));
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      const copied = await page.evaluate<string>('navigator.clipboard.readText()');
      const address = `${world.baseUrl}/mcp`;
      expect(copied).toBe(`claude mcp add --transport http gateway ${address}`);
      const metadata = await fetch(`${world.baseUrl}/.well-known/oauth-protected-resource/mcp`);
      expect(await metadata.json()).toMatchObject({ resource: address });
      expect(acts.count).toBeLessThanOrEqual(4);
    },
    TASK_MS,
  );

  it.each(['/access', '/audit', '/health', '/settings/security'])(
    '%s at 390 px and dark → no axe-core violation, nothing wider than the screen',
    async (path) => {
      const { page } = browser;
      await page.setViewportSize(NARROW);
      await page.emulateMedia({ colorScheme: 'dark' });
      await browser.go(path);
      expect(await browser.axe()).toEqual([]);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(NARROW.width);
      await page.emulateMedia({ colorScheme: null });
      await page.setViewportSize(WIDE);
      expect(browser.complaints).toEqual([]);
    },
    TASK_MS,
  );

  it(
    'a key with an expiry date → created on the page, and listed with the date',
    async () => {
      const { page } = browser;
      await browser.go(`/apps/${app}/auth`);
      await page.getByLabel('Key name').fill('Trial');
      await page.getByLabel('Expires').fill('2099-01-31T12:00');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog').waitFor();
      const { keys } = (await owner.client.get(`/v1/admin/apps/${app}/keys`)).body;
      expect(keys[0]).toMatchObject({ name: 'Trial', expires_at: expect.stringMatching(/^2099-01-31T/) });
    },
    TASK_MS,
  );
});
