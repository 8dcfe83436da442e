import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { newOrganization } from '../../support/accounts/people.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { Acts } from '../../support/console/acts.js';
import { ConsoleBrowser } from '../../support/console/console-browser.js';
import { type ProviderSimulator, startProviderSimulator } from '../../support/proxy/provider-simulator.js';
import { startWorld, type World } from '../../support/world.js';

const TASK_MS = 120_000;
const RIGHT_KEY = 'sk-right-Zk3vQ9mX2pLr7';
const WRONG_KEY = 'sk-wrong-Zk3vQ9mX2pLr7';
const ARRIVED = 'Your first request has arrived';

let world: World;
let simulator: ProviderSimulator;
let chromium: Browser;
let browser: ConsoleBrowser;

async function newcomer() {
  const { owner } = await newOrganization(world);
  await browser.handTo(owner.cookie);
  return { client: owner.client, page: browser.page };
}

describeWithBrowser('the guide, when the first call fails', () => {
  beforeAll(async () => {
    world = await startWorld({ env: { REDIS_URL: '' } });
    simulator = await startProviderSimulator({ providerKey: RIGHT_KEY });
    chromium = await startBrowser();
    browser = await ConsoleBrowser.open(world, chromium);
  }, TASK_MS);
  afterAll(async () => {
    await chromium.close();
    await simulator.stop();
    await world.stop();
  });

  it(
    'first answer with a wrong key corrected → at most ten actions, and the wrong key is never stored',
    async () => {
      const { client, page } = await newcomer();
      const acts = new Acts();
      await browser.go('/');
      await page.getByRole('heading', { level: 1, name: 'Guided start' }).waitFor();
      await acts.click(page.getByText('The provider has another address'));
      await acts.fill(page.getByLabel('Base URL'), `${simulator.url}/`);
      await acts.fill(page.getByLabel('Provider key'), WRONG_KEY);
      await acts.click(page.getByRole('button', { name: 'Continue' }));
      await page.getByText('OpenAI refuses this key.').waitFor();
      await page.getByLabel('Provider', { exact: true }).selectOption('xai');
      expect(await page.getByText('refuses this key.').count()).toBe(0);
      await page.getByLabel('Provider', { exact: true }).selectOption('openai');
      expect((await client.get('/v1/admin/providers')).body.providers).toEqual([]);
      expect(await browser.axe()).toEqual([]);
      await acts.fill(page.getByLabel('Provider key'), RIGHT_KEY);
      await acts.click(page.getByRole('button', { name: 'Continue' }));
      await acts.click(page.getByRole('button', { name: 'Create', exact: true }));
      await acts.click(page.getByRole('button', { name: 'Send it from here' }));
      await page.getByText(ARRIVED).waitFor();
      expect(await page.locator('output').textContent()).toContain('Good morning');
      expect(acts.done.length).toBeLessThanOrEqual(10);
      await page.getByRole('link', { name: 'Open the application' }).click();
      await page.getByRole('heading', { level: 1, name: 'My first application' }).waitFor();
      await page.getByRole('link', { name: 'Guided start' }).waitFor({ state: 'detached' });
      expect(browser.complaints).toEqual([]);
    },
    TASK_MS,
  );

  it(
    'a key that the provider has since revoked → an explanation, the guide continues, and the key step opens again',
    async () => {
      const { client, page } = await newcomer();
      await browser.go('/start');
      await page.getByText('The provider has another address').click();
      await page.getByLabel('Base URL').fill(`${simulator.url}/`);
      await page.getByLabel('Provider key').fill(RIGHT_KEY);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByRole('button', { name: 'Send it from here' }).waitFor();
      const [provider] = (await client.get('/v1/admin/providers')).body.providers;
      expect((await client.put(`/v1/admin/providers/${provider.id}`, { secret: WRONG_KEY })).status).toBe(200);
      await page.getByRole('button', { name: 'Send it from here' }).click();
      const alert = page.getByRole('alert').filter({ hasText: 'The provider refuses its key.' });
      await alert.waitFor();
      await page.getByText('Waiting for a call that succeeds').waitFor();
      expect(await page.getByText(ARRIVED).count()).toBe(0);
      expect(await page.getByText('"error"').count()).toBe(0);
      await page.reload();
      await page.getByText('A call arrived, and the provider answered it with an error.').waitFor();
      await page.getByRole('link', { name: 'Guided start' }).waitFor();
      await page.getByRole('button', { name: 'Correct the provider' }).click();
      await page.getByText('It replaces the key of OpenAI').waitFor();
      await page.getByLabel('Provider key').fill(RIGHT_KEY);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('button', { name: 'Create another key' }).click();
      await page.getByRole('button', { name: 'Send it from here' }).click();
      await page.getByText(ARRIVED).waitFor();
      expect((await client.get('/v1/admin/providers')).body.providers).toHaveLength(1);
    },
    TASK_MS,
  );

  it(
    'every completed step → can be opened again and left unchanged',
    async () => {
      const { page } = await newcomer();
      await browser.go('/start');
      await page.getByText('The provider has another address').click();
      await page.getByLabel('Base URL').fill(`${simulator.url}/`);
      await page.getByLabel('Provider key').fill(RIGHT_KEY);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByRole('button', { name: 'Send it from here' }).waitFor();
      for (const [step, shown] of [
        ['a provider', 'Provider key'],
        ['an application', 'Application name'],
      ] as const) {
        await page.getByRole('button', { name: `Change: ${step}` }).click();
        await page.getByLabel(shown).waitFor();
        expect(await browser.axe()).toEqual([]);
        await page.getByRole('button', { name: `Leave as it is: ${step}` }).click();
        await page.getByRole('button', { name: 'Send it from here' }).waitFor();
      }
      await page.getByRole('button', { name: 'Change: an application' }).click();
      await page.getByLabel('Or an existing application').waitFor();
      await page.getByRole('button', { name: 'Use it' }).click();
      await page.getByText('and is no longer available').waitFor();
    },
    TASK_MS,
  );

  it(
    'a provider that cannot be reached → reported before anything is stored, and the test can be skipped',
    async () => {
      const { page } = await newcomer();
      await browser.go('/start');
      await page.getByText('The provider has another address').click();
      await page.getByLabel('Base URL').fill('http://127.0.0.1:9/');
      await page.getByLabel('Provider key').fill(RIGHT_KEY);
      await page.getByRole('button', { name: 'Continue', exact: true }).click();
      await page.getByText('The gateway cannot reach OpenAI.').waitFor();
      await page.getByRole('button', { name: 'Continue without the test' }).click();
      await page.getByLabel('Application name').waitFor();
    },
    TASK_MS,
  );

  it(
    'a key tested in the form of a provider → the result is shown only for that key, and in green only if it is accepted',
    async () => {
      const { page } = await newcomer();
      await browser.go('/providers');
      await page.getByRole('button', { name: 'Add provider' }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('More', { exact: true }).click();
      await dialog.getByLabel('Base URL').fill(`${simulator.url}/`);
      await dialog.getByLabel('Provider key').fill(RIGHT_KEY);
      await dialog.getByRole('button', { name: 'Test' }).click();
      await dialog.getByRole('status').filter({ hasText: 'accepts the key.' }).waitFor();
      await dialog.getByLabel('Provider key').fill(WRONG_KEY);
      expect(await dialog.getByText('accepts the key.').count()).toBe(0);
      await dialog.getByRole('button', { name: 'Test' }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByLabel('Base URL').fill('http://127.0.0.1:9/');
      await dialog.getByRole('button', { name: 'Test' }).click();
      await dialog.getByRole('alert').filter({ hasText: 'The gateway cannot reach OpenAI.' }).waitFor();
    },
    TASK_MS,
  );
});
