import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { newOrganization, type Person } from '../../support/accounts/people.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser } from '../../support/console/console-browser.js';
import { eventually } from '../../support/eventually.js';
import { startWorld, type World } from '../../support/world.js';

const PAGE_MS = 60_000;
const REVOKED = { withinMs: 15_000 };
const SIMULATED = {
  ...{ type: 'simulated', name: 'Simulated provider', secret: 'no-key-is-needed' },
  pricing: { 'simulated-1': { input: 0.5, output: 2 }, 'simulated-2': { input: 1, output: 4 } },
};

let world: World;
let chromium: Browser;
let owner: Person;
let browser: ConsoleBrowser;
let page: Page;

async function open(...providers: object[]): Promise<void> {
  ({ owner } = await newOrganization(world));
  for (const provider of providers) expect((await owner.client.post('/v1/admin/providers', provider)).status).toBe(201);
  await browser.handTo(owner.cookie);
}

async function app(config: object = {}): Promise<string> {
  const routing = { providers: { mode: 'all' }, model_rewrites: {} };
  const body = { name: 'Journal', config: { authentication: { type: 'api_key' }, routing, ...config } };
  return (await owner.client.post('/v1/admin/apps', body)).body.app.id;
}

const activeKeys = async (id: string): Promise<readonly string[]> => {
  const { keys } = (await owner.client.get(`/v1/admin/apps/${id}/keys`)).body;
  return keys
    .filter(({ status, name }: { status: string; name: string }) => status === 'active' && name.startsWith('One-time'))
    .map(({ id: key }: { id: string }) => key);
};

describeWithBrowser('models in the console', () => {
  beforeAll(async () => {
    world = await startWorld({ env: { REDIS_URL: '', SIMULATED_PROVIDER: 'true' } });
    chromium = await startBrowser();
    browser = await ConsoleBrowser.open(world, chromium);
    page = browser.page;
  }, PAGE_MS);
  afterEach(() => expect(browser.complaints).toEqual([]));
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it(
    'the catalog → search, filter and day are part of the URL, and a reload shows the same',
    async () => {
      await open(SIMULATED, { type: 'openai', name: 'OpenAI', secret: 'sk-of-the-models' });
      await browser.go('/models');
      const table = page.getByRole('table', { name: 'Models and their prices' });
      await table.getByText('simulated-1', { exact: true }).waitFor();
      await page.getByLabel('Search models').fill('gpt-5.6-sol');
      const row = table.getByRole('row').filter({ has: page.getByText('gpt-5.6-sol', { exact: true }) });
      await row.getByText(/\$4$/).waitFor();
      expect(await table.getByText('simulated-1', { exact: true }).count()).toBe(0);
      await page.getByLabel('Prices of the day (UTC)').fill('2026-08-20');
      await row.getByText(/\$5$/).waitFor();
      expect(new URL(page.url()).search).toBe('?q=gpt-5.6-sol&day=2026-08-20');
      await page.reload();
      await row.getByText(/\$5$/).waitFor();
      expect(await page.getByLabel('Search models').inputValue()).toBe('gpt-5.6-sol');
      await page.getByLabel('Provider', { exact: true }).selectOption('simulated');
      await page.getByText('No model with a price matches.').waitFor();
      expect(await browser.axe()).toEqual([]);
    },
    PAGE_MS,
  );

  it(
    'prices of one provider → the catalog with that filter; models of types without a provider only on demand',
    async () => {
      await open(SIMULATED);
      await browser.go('/providers');
      await page.getByRole('link', { name: 'Prices of Simulated provider' }).click();
      const table = page.getByRole('table', { name: 'Models and their prices' });
      await table.getByText('simulated-2', { exact: true }).waitFor();
      await page.getByText('2 prices', { exact: true }).waitFor();
      await page.getByLabel('Provider', { exact: true }).selectOption('*');
      await table.getByText('openai, not in your account').first().waitFor();
    },
    PAGE_MS,
  );

  it(
    'the playground → a one-time key, two models side by side, two turns, each recorded; closed → the key is revoked',
    async () => {
      await open(SIMULATED);
      const id = await app();
      await browser.go(`/apps/${id}/overview`);
      const panel = page.getByRole('dialog');
      const acts = [
        () => page.getByRole('button', { name: 'Try it' }).click(),
        () => panel.getByRole('button', { name: 'Use a one-time key' }).click(),
        () => panel.getByLabel('Model', { exact: true }).fill('simulated-1'),
        () => panel.getByRole('button', { name: 'Compare with a second model' }).click(),
        () => panel.getByLabel('Second model', { exact: true }).fill('simulated-2'),
        () => panel.getByRole('button', { name: 'Send' }).click(),
      ];
      for (const act of acts) await act();
      expect(acts.length).toBeLessThanOrEqual(6);
      for (const model of ['simulated-1', 'simulated-2']) {
        const answer = panel.getByRole('region', { name: `Answer of ${model}` });
        await answer.getByText('This answer is simulated').waitFor();
        await answer.getByText(/^event \d+, ok$/).waitFor();
        expect(await answer.getByRole('definition').filter({ hasText: model }).count()).toBe(1);
      }
      expect(await browser.axe()).toEqual([]);
      await panel.getByLabel('Message').fill('And at night?');
      const sent = page.waitForRequest((request) => request.url().includes('/proxy/'));
      await panel.getByRole('button', { name: 'Send' }).click();
      const { messages } = (await sent).postDataJSON();
      expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user']);
      await panel
        .getByText(/^event \d+, ok$/)
        .nth(3)
        .waitFor();
      const { events } = (await owner.client.get(`/v1/admin/apps/${id}/events`)).body;
      const [key] = await activeKeys(id);
      expect(events.map((event: { api_key_id: string }) => event.api_key_id)).toEqual([key, key, key, key]);
      await page.keyboard.press('Escape');
      await eventually(async () => (await activeKeys(id)).length === 0, REVOKED);
    },
    PAGE_MS,
  );

  it(
    'the page is left with the panel open → the one-time key is revoked too; a refusal → in words',
    async () => {
      await open(SIMULATED);
      const id = await app({ limits: { per_app: { requests: { per_minute: 1 } } } });
      await browser.go(`/apps/${id}/overview`);
      await page.getByRole('button', { name: 'Try it' }).click();
      const panel = page.getByRole('dialog');
      await panel.getByRole('button', { name: 'Use a one-time key' }).click();
      await panel.getByLabel('Model', { exact: true }).fill('no-such-model');
      await panel.getByRole('button', { name: 'Send' }).click();
      await panel.getByText('Status').getByText('400').waitFor();
      await panel.getByRole('alert').getByText('The model has no price').waitFor();
      expect(await activeKeys(id)).toHaveLength(1);
      await page.goto(`${world.baseUrl}/members`);
      await eventually(async () => (await activeKeys(id)).length === 0, REVOKED);
    },
    PAGE_MS,
  );

  it(
    'a named endpoint → several turns through its own URL',
    async () => {
      await open(SIMULATED);
      const id = await app({
        endpoints: { answer: { api_style: 'responses', provider: 'simulated', model: 'simulated-1' } },
      });
      await browser.go(`/apps/${id}/endpoints`);
      await page.getByRole('button', { name: 'Try it' }).click();
      const panel = page.getByRole('dialog');
      await panel.getByRole('button', { name: 'Use a one-time key' }).click();
      for (const turn of [0, 1]) {
        await panel.getByLabel('Message').fill(`Turn ${turn}`);
        await panel.getByRole('button', { name: 'Send' }).click();
        await panel
          .getByText(/^event \d+, ok$/)
          .nth(turn)
          .waitFor();
      }
    },
    PAGE_MS,
  );
});
