import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { newOrganization, newPerson } from '../../support/accounts/people.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser } from '../../support/console/console-browser.js';
import { event, hold } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const PAGE_MS = 60_000;
const HOSTILE = [
  '<img src=x onerror="document.title=\'owned\'">',
  'gnp.exe and עברית',
  'x'.repeat(100),
  '👩‍👩‍👧‍👦🏳️‍🌈',
  '{{7*7}}<%= 7*7 %>',
];

let world: World;
let chromium: Browser;
let browser: ConsoleBrowser;

describeWithBrowser('the console in trouble', () => {
  beforeAll(async () => {
    world = await startWorld({ env: { REDIS_URL: '' } });
    chromium = await startBrowser();
    browser = await ConsoleBrowser.open(world, chromium);
  }, PAGE_MS);
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it(
    'a member → sees everything, and the reason why nothing can be changed',
    async () => {
      const { organizationId, owner } = await newOrganization(world);
      await owner.client.post('/v1/admin/providers', { type: 'openai', name: 'Ours', secret: 'sk-of-the-members' });
      const member = await newPerson(world, { organizationId, role: 'member' });
      await browser.handTo(member.cookie);
      const { page } = browser;
      await browser.go('/providers');
      expect(await page.getByText('Ours').isVisible()).toBe(true);
      const add = page.getByRole('button', { name: 'Add provider' });
      expect([await add.getAttribute('aria-disabled'), await add.getAttribute('title')]).toEqual([
        'true',
        expect.stringContaining('read-only access'),
      ]);
      await add.click({ force: true });
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(await browser.axe()).toEqual([]);
    },
    PAGE_MS,
  );

  it(
    'an admin who is demoted meanwhile → the refusal is shown, and the page becomes read-only',
    async () => {
      const { organizationId, owner } = await newOrganization(world);
      const admin = await newPerson(world, { organizationId, role: 'admin' });
      await browser.handTo(admin.cookie);
      const { page } = browser;
      await browser.go('/access');
      await page.getByLabel('Key name').fill('Late');
      const demoted = await owner.client.put(`/v1/admin/members/${admin.identityId}`, { role: 'member' });
      expect(demoted.status).toBe(200);
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByRole('alert').waitFor();
      await page.locator('button[aria-disabled=true]', { hasText: 'Create' }).waitFor();
      expect(await page.getByRole('dialog').count()).toBe(0);
    },
    PAGE_MS,
  );

  it(
    'an offline moment → the page says so, and reloads by itself afterwards',
    async () => {
      const { owner } = await newOrganization(world);
      await browser.handTo(owner.cookie);
      const { page, context } = browser;
      await browser.go('/members');
      await context.setOffline(true);
      await page.getByRole('button', { name: 'Invite' }).click();
      await page.getByText('The gateway does not answer').waitFor();
      await context.setOffline(false);
      await page.getByRole('link', { name: 'Providers' }).click();
      await page.getByText('No providers yet').waitFor();
    },
    PAGE_MS,
  );

  it(
    '“Try it”, offline in the middle of an answer → what has arrived stays, and the rest follows afterwards',
    async () => {
      const { owner } = await newOrganization(world);
      const provider = { type: 'openai', name: 'Ours', secret: 'sk-of-the-trouble', baseUrl: `${world.upstream.url}/` };
      expect((await owner.client.post('/v1/admin/providers', provider)).status).toBe(201);
      const routing = { providers: { mode: 'all' }, model_rewrites: {} };
      const config = { authentication: { type: 'api_key' }, routing, streams: { resume_seconds: 60 } };
      const made = (await owner.client.post('/v1/admin/apps', { name: 'Journal', config })).body;
      const said = (content: string) => event({ choices: [{ delta: { content } }] });
      const held = hold(said('Before the tunnel, '));
      world.upstream.script(held.script);
      await browser.handTo(owner.cookie);
      const { page, context } = browser;
      await browser.go(`/apps/${made.app.id}/overview`);
      await page.getByRole('button', { name: 'Try it' }).click();
      const panel = page.getByRole('dialog');
      await panel.getByRole('button', { name: 'Use a one-time key' }).click();
      await panel.getByLabel('Model', { exact: true }).fill('gpt-4.1');
      await panel.getByRole('button', { name: 'Send' }).click();
      await panel.getByText('Before the tunnel,').waitFor();
      await context.setOffline(true);
      world.gateway.app.getHttpServer().closeAllConnections();
      held.release(said('and behind it.'));
      await context.setOffline(false);
      await panel.getByText('Before the tunnel, and behind it.').waitFor();
      await panel.getByText(/^event \d+, ok$/).waitFor();
      expect(world.upstream.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    },
    PAGE_MS,
  );

  it.each([
    { status: 402, says: 'The operator of this gateway can change the plan' },
    { status: 429, says: 'Try again in 7 seconds.' },
    { status: 503, says: 'Try again in 7 seconds.' },
  ])(
    'a change answered with $status → the page says what to do, and stays unchanged',
    async ({ status, says }) => {
      const { owner } = await newOrganization(world);
      await browser.handTo(owner.cookie);
      const { page } = browser;
      await page.route('**/v1/admin/invitations', (route) => {
        if (route.request().method() !== 'POST') return route.continue();
        const error = { code: 'refused', message: 'It is refused.' };
        return route.fulfill({ status, headers: { 'retry-after': '7' }, json: { error } });
      });
      await browser.go('/members');
      await page.getByLabel('E-mail (optional)').fill('grace@example.com');
      await page.getByRole('button', { name: 'Invite' }).click();
      await page.getByRole('alert').getByText(`It is refused. ${says}`).waitFor();
      expect(await page.getByLabel('E-mail (optional)').inputValue()).toBe('grace@example.com');
      expect(new URL(page.url()).pathname).toBe('/members');
    },
    PAGE_MS,
  );

  it(
    'two tabs in two organizations → a form that was open for the first is not sent to the second',
    async () => {
      const { owner } = await newOrganization(world);
      const made = await owner.client.post('/v1/admin/organizations', { name: 'Second house' });
      expect(made.status).toBe(201);
      await browser.handTo(owner.cookie);
      const { page, context } = browser;
      await browser.go('/apps/new');
      const other = await context.newPage();
      await other.goto(`${world.baseUrl}/members`);
      await other.getByRole('button', { name: /Theirs/ }).click();
      await other.getByRole('menuitem', { name: /Second house/ }).click();
      await other.getByRole('heading', { level: 1, name: 'Applications' }).waitFor();
      await other.getByRole('button', { name: /Second house/ }).waitFor();
      await page.getByText('Another tab has switched to Second house.').waitFor();
      await page.getByRole('heading', { level: 1, name: 'Applications' }).waitFor();
      await page.getByRole('button', { name: /Second house/ }).waitFor();
    },
    PAGE_MS,
  );

  it(
    'names with markup, right-to-left text, long text and emoji → shown as text everywhere, and nothing is executed',
    async () => {
      const { owner } = await newOrganization(world);
      const { client } = owner;
      for (const [at, name] of HOSTILE.entries()) {
        const provider = { type: 'openai', slug: `hostile-${at}`, name, secret: 'sk-of-the-hostile' };
        expect((await client.post('/v1/admin/providers', provider)).status).toBe(201);
        const routing = { providers: { mode: 'all' }, model_rewrites: {} };
        const config = { authentication: { type: 'api_key' }, routing };
        const app = await client.post('/v1/admin/apps', { name, config });
        expect(app.status).toBe(201);
        expect((await client.post(`/v1/admin/apps/${app.body.app.id}/keys`, { name })).status).toBe(201);
        expect((await client.post('/v1/admin/keys', { name })).status).toBe(201);
        expect((await client.post('/v1/admin/organizations', { name })).status).toBe(201);
      }
      const { apps } = (await client.get('/v1/admin/apps')).body;
      await browser.handTo(owner.cookie);
      const { page } = browser;
      const paths = ['/apps', '/providers', '/access', '/audit'];
      for (const { id } of apps) paths.push(`/apps/${id}/overview`, `/apps/${id}/auth`, `/apps/${id}/settings`);
      for (const path of paths) {
        await browser.go(path);
        expect(await page.title()).not.toBe('owned');
        expect(await page.evaluate('document.querySelectorAll("img").length')).toBe(0);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      }
      await browser.go('/apps');
      for (const name of HOSTILE) expect(await page.getByText(name, { exact: true }).first().isVisible()).toBe(true);
      expect(browser.complaints).toEqual([]);
    },
    PAGE_MS,
  );
});
