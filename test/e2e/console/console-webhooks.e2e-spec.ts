import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { newOrganization, newPerson } from '../../support/accounts/people.js';
import { rawServerConfig } from '../../support/apps/app-configs.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser } from '../../support/console/console-browser.js';
import { startReceiver, type WebhookReceiver } from '../../support/webhooks/receiver.js';
import { startWorld, type World } from '../../support/world.js';

const TASK_MS = 60_000;
const ACTS = ['Send a test', 'Change', 'Rotate secret', 'Disable', 'Delete'];
const PATH = '/v1/admin/webhooks';

let world: World;
let chromium: Browser;
let receiver: WebhookReceiver;
let opened: ConsoleBrowser[] = [];
let places = 0;

async function atWork(role: 'owner' | 'member' = 'owner') {
  const { organizationId, owner } = await newOrganization(world);
  const person = role === 'owner' ? owner : await newPerson(world, { organizationId, role });
  const browser = await ConsoleBrowser.open(world, chromium, person.cookie);
  opened.push(browser);
  return { client: owner.client, browser, page: browser.page };
}

/** The URL of a separate endpoint. */
function newUrl(): { readonly place: string; readonly url: string } {
  const place = `/console-${++places}`;
  return { place, url: receiver.url + place };
}

describeWithBrowser('webhooks in the console', () => {
  beforeAll(async () => {
    receiver = await startReceiver();
    world = await startWorld({ env: { REDIS_URL: '' } });
    chromium = await startBrowser();
  }, TASK_MS);
  afterEach(async () => {
    receiver.answer(() => 200);
    for (const browser of opened) await browser.close();
    opened = [];
  });
  afterAll(async () => {
    await chromium.close();
    await world.stop();
    await receiver.stop();
  });

  it(
    'add → filters as chosen, the secret is shown once and verifies what is sent',
    async () => {
      const { client, browser, page } = await atWork();
      const { app } = (await client.post('/v1/admin/apps', { name: 'Journal', config: rawServerConfig() })).body;
      const { place, url } = newUrl();
      await browser.go('/webhooks');
      await page.getByText('No webhooks yet').waitFor();
      expect(await page.locator('main').getByRole('link', { name: 'How a webhook works' }).count()).toBe(2);
      await page.getByRole('button', { name: 'Add webhook' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'Add a webhook' });
      await dialog.getByLabel('URL').fill('http://hooks.example.com/in');
      await dialog.getByLabel('Chosen events').check();
      await dialog.getByLabel('app_key.created').check();
      await dialog.getByLabel('Every app_key event').check();
      expect(await dialog.getByLabel('app_key.revoked').isChecked()).toBe(true);
      await dialog.getByLabel('member.joined').check();
      await dialog.getByLabel('Chosen applications').check();
      await dialog.getByLabel('Add an application').fill('Jour');
      await dialog.getByRole('button', { name: /^Journal/ }).click();
      expect(await browser.axe()).toEqual([]);
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByRole('alert').filter({ hasText: 'must use https' }).waitFor();
      await dialog.getByLabel('URL').fill(url);
      await dialog.getByRole('button', { name: 'Create' }).click();
      const created = page.getByRole('dialog', { name: 'The webhook is created' });
      const secret = (await created.locator('pre').textContent()) ?? '';
      expect(secret).toMatch(/^whsec_/);
      expect(await browser.axe()).toEqual([]);
      await page.keyboard.press('Escape');
      await created.getByRole('button', { name: 'I have saved it' }).click();
      const { webhooks } = (await client.get(PATH)).body;
      expect(webhooks).toMatchObject([{ url, events: ['app_key.*', 'member.joined'], apps: [app.id] }]);
      expect(await page.content()).not.toContain(secret);
      expect((await client.post(`/v1/admin/apps/${app.id}/keys`, { name: 'Server' })).status).toBe(201);
      const [event] = await receiver.until(place, 1);
      const headers = event?.headers as Record<string, string>;
      expect(new Webhook(secret).verify(event?.text ?? '', headers)).toMatchObject({ type: 'app_key.created' });
      expect(browser.complaints).toEqual([]);
    },
    TASK_MS,
  );

  it(
    'a test → marked as success by its status alone; the log shows it when filtered by URL',
    async () => {
      const { client, browser, page } = await atWork();
      const { url } = newUrl();
      const { webhook } = (await client.post(PATH, { url, name: 'On-call', events: ['member.joined'] })).body;
      await browser.go('/webhooks');
      await page.getByRole('link', { name: /^On-call/ }).click();
      await page.getByText('No deliveries yet').waitFor();
      const test = page.getByRole('button', { name: 'Send a test' });
      await test.click();
      await page.getByRole('status').filter({ hasText: 'answered 200' }).waitFor();
      receiver.answer(() => 500);
      await test.click();
      await page.getByRole('alert').filter({ hasText: 'answered 500' }).waitFor();
      expect(await page.getByRole('status').filter({ hasText: 'answered' }).count()).toBe(0);
      receiver.answer(() => ({ location: 'https://example.com' }));
      await test.click();
      await page.getByRole('alert').filter({ hasText: 'Redirects are not followed.' }).waitFor();
      await page.getByLabel('Status').selectOption('delivered');
      await page.waitForURL(/\?status=delivered$/);
      await page.reload();
      await browser.settled();
      expect(await page.getByLabel('Status').inputValue()).toBe('delivered');
      expect(await page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr').count()).toBe(1);
      receiver.answer(() => 200);
      await page.getByRole('button', { name: /^Resend webhook\.test/ }).click();
      await page.getByText('webhook.test is sent again.').waitFor();
      await page.getByRole('button', { name: /^Show webhook\.test/ }).click();
      const shown = page.getByRole('dialog', { name: 'webhook.test' });
      const body = shown.locator('pre').filter({ hasText: '"timestamp"' });
      await body.waitFor();
      expect(JSON.parse((await body.textContent()) ?? '')).toMatchObject({
        ...{ type: 'webhook.test', data: { webhook: webhook.id } },
      });
      expect(await browser.axe()).toEqual([]);
      await page.keyboard.press('Escape');
      await browser.go(`/webhooks/${webhook.id}?status=disabled`);
      await page.getByText('No delivery has this status.').waitFor();
      expect(await browser.axe()).toEqual([]);
      expect(browser.complaints).toEqual([]);
    },
    TASK_MS,
  );

  it(
    'change, rotate, disable, enable and delete → each takes effect; a webhook ended by a 410 says so',
    async () => {
      const { client, browser, page } = await atWork();
      const { place, url } = newUrl();
      const { webhook } = (await client.post(PATH, { url, name: 'On-call', events: ['member.*'] })).body;
      const stored = async () => (await client.get(`${PATH}/${webhook.id}`)).body.webhook;
      await browser.go(`/webhooks/${webhook.id}`);
      await page.getByRole('button', { name: 'Change' }).click();
      const form = page.getByRole('dialog', { name: 'Change On-call' });
      await form.getByLabel('Name', { exact: true }).fill('Pager');
      await form.getByLabel('Every event').first().check();
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { level: 1, name: 'Pager' }).waitFor();
      expect(await stored()).toMatchObject({ name: 'Pager', url, events: null });
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
      const rotated = page.getByRole('dialog', { name: 'The new secret of Pager' });
      expect(await rotated.locator('pre').textContent()).toMatch(/^whsec_/);
      await rotated.getByRole('button', { name: 'I have saved it' }).click();
      await page.getByText('signs too until').waitFor();
      await page.getByRole('button', { name: 'Disable' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
      await page.getByText('This webhook is disabled.').waitFor();
      expect(await browser.axe()).toEqual([]);
      await page.getByRole('button', { name: 'Enable' }).click();
      await page.getByText('This webhook is disabled.').waitFor({ state: 'detached' });
      receiver.answer(({ path }) => (path === place ? 410 : 200));
      expect((await client.post('/v1/admin/invitations', { role: 'admin' })).status).toBe(201);
      await receiver.until(place, 1);
      await page
        .getByRole('alert')
        .filter({ hasText: '410 Gone' })
        .waitFor({ timeout: TASK_MS / 2 });
      await page.getByRole('button', { name: 'Delete' }).click();
      const question = page.getByRole('dialog', { name: 'Delete Pager?' });
      await question.getByRole('button', { name: 'Delete' }).click({ force: true });
      expect((await stored()).name).toBe('Pager');
      await question.getByLabel('Type “Pager” to confirm').fill('Pager');
      await question.getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No webhooks yet').waitFor();
      expect((await client.get(PATH)).body.webhooks).toEqual([]);
      expect(browser.complaints).toEqual([]);
    },
    TASK_MS,
  );

  it(
    'a deleted application in the filter → shown by its id, and other fields can still be changed',
    async () => {
      const { client, browser, page } = await atWork();
      const { app } = (await client.post('/v1/admin/apps', { name: 'Journal', config: rawServerConfig() })).body;
      const { webhook } = (await client.post(PATH, { url: newUrl().url, name: 'On-call', apps: [app.id] })).body;
      expect((await client.delete(`/v1/admin/apps/${app.id}?confirm=${app.id}`)).status).toBe(200);
      await browser.go(`/webhooks/${webhook.id}`);
      await page.getByRole('definition').filter({ hasText: app.id }).waitFor();
      await page.getByRole('button', { name: 'Change' }).click();
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Pager');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { level: 1, name: 'Pager' }).waitFor();
    },
    TASK_MS,
  );

  it(
    'a member → reads list, filters and log; every action is disabled and says why',
    async () => {
      const { client, browser, page } = await atWork('member');
      const { webhook } = (await client.post(PATH, { url: newUrl().url, name: 'On-call' })).body;
      const acts = { '/webhooks': ['Add webhook'], [`/webhooks/${webhook.id}`]: ACTS };
      for (const [path, names] of Object.entries(acts)) {
        await browser.go(path);
        await page.getByText('On-call').first().waitFor();
        for (const name of names) {
          const button = page.getByRole('button', { name });
          // Playwright waits for a button that is not disabled.
          await button.click({ force: true });
          expect(await button.getAttribute('title')).toContain('read-only access');
        }
        expect(await page.getByRole('dialog').count()).toBe(0);
      }
      expect((await client.get(`${PATH}/${webhook.id}`)).body.webhook).toEqual(webhook);
      expect(await browser.axe()).toEqual([]);
    },
    TASK_MS,
  );
});
