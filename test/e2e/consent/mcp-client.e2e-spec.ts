import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { FakeClock } from '../../support/clock.js';
import { McpOAuthClient } from '../../support/consent/mcp-oauth-client.js';
import { CLIENT_NAME, OAuthTestClient, startConsentWorld } from '../../support/consent/oauth-client.js';
import { REVISIONS } from '../../support/mcp/mcp-client.js';
import type { World } from '../../support/world.js';

const PASSWORD = 'correct horse battery';
const BROWSER_MS = 60_000;
const MINUTE_MS = 60_000;

const clock = new FakeClock();
let world: World;
let chromium: Browser;
let context: BrowserContext;
let page: Page;
let client: McpOAuthClient;
let people = 0;

async function toolNames(connected: Client): Promise<string[]> {
  return (await connected.listTools()).tools.map(({ name }) => name);
}

/** Follows the client's link and registers, so that the consent page can be decided. */
async function arrive(): Promise<string> {
  const email = `client-user-${++people}@example.com`;
  await page.goto(String(client.authorizationUrl));
  await page.getByText('Register instead').click();
  await page.locator('#name').fill('Ada Lovelace');
  await page.locator('#newEmail').fill(email);
  await page.locator('#newPassword').fill(PASSWORD);
  await page.getByRole('button', { name: 'Register' }).click();
  await page.getByText('You are signed in as').waitFor();
  return email;
}

async function allow(grant: RegExp): Promise<void> {
  await page.getByRole('radio', { name: grant }).check();
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Approve' }).click();
}

describeWithBrowser('an AI client of the Model Context Protocol, through consent in a browser', () => {
  beforeAll(async () => {
    world = await startConsentWorld({ clock, env: { REDIS_URL: '', ALLOW_ADDITIONAL_REGISTRATIONS: 'true' } });
    chromium = await startBrowser();
  }, BROWSER_MS);
  beforeEach(async () => {
    clock.advance(15 * MINUTE_MS);
    context = await chromium.newContext();
    page = await context.newPage();
  });
  afterEach(async () => {
    await client.stop();
    await context.close();
  });
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it.each(REVISIONS)(
    'revision %s: discovery, consent, tools, refresh, revocation',
    async (revision) => {
      client = await McpOAuthClient.make(world.baseUrl, revision);
      expect(await client.connect()).toBeUndefined();
      expect(client.authorizationUrl?.origin).toBe(world.consoleOrigin);
      expect(client.authorizationUrl?.searchParams.get('resource')).toBe(`${world.consoleOrigin}/mcp`);
      await arrive();
      expect(await page.getByText(CLIENT_NAME).isVisible()).toBe(true);
      await allow(/read and write/);
      const callback = await client.finish();
      expect([callback.get('iss'), callback.get('state')]).toEqual([world.consoleOrigin, 'state-of-the-client']);
      const connected = await client.connect();
      if (connected === undefined) throw new Error('it was not let in');
      expect(await toolNames(connected)).toEqual(expect.arrayContaining(['list_apps', 'remove_app']));
      const { structuredContent } = await connected.callTool({ name: 'list_apps', arguments: {} });
      expect(structuredContent).toMatchObject({ apps: [] });
      const first = client.stored;
      clock.advance(11 * MINUTE_MS);
      await connected.callTool({ name: 'get_account', arguments: {} });
      expect(client.stored?.access_token).not.toBe(first?.access_token);
      await new OAuthTestClient(world).revoke(client.stored?.refresh_token ?? '');
      client.authorizationUrl = undefined;
      await expect(connected.callTool({ name: 'list_apps', arguments: {} })).rejects.toThrow();
      expect(client.authorizationUrl).toBeDefined();
    },
    BROWSER_MS,
  );

  it(
    'only reading is allowed → no tool that changes anything is listed, and none works',
    async () => {
      client = await McpOAuthClient.make(world.baseUrl, REVISIONS[0]);
      await client.connect();
      await arrive();
      await allow(/read only/);
      await client.finish();
      const connected = await client.connect();
      if (connected === undefined) throw new Error('it was not let in');
      const { tools } = await connected.listTools();
      expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
      expect(tools.length).toBeGreaterThan(10);
      const refused = await connected.callTool({ name: 'remove_provider', arguments: { id: 'any', confirm: 'any' } });
      expect(refused).toMatchObject({ isError: true, structuredContent: { error: 'grant_insufficient' } });
    },
    BROWSER_MS,
  );

  it(
    'declined → the client gets the error and no access',
    async () => {
      client = await McpOAuthClient.make(world.baseUrl, REVISIONS[1]);
      await client.connect();
      await page.goto(String(client.authorizationUrl));
      await page.getByRole('button', { name: 'Deny' }).click();
      await expect(client.finish()).rejects.toThrow(/access_denied|declined/i);
      expect(client.stored).toBeUndefined();
    },
    BROWSER_MS,
  );
});

describeWithBrowser('the first client of an empty deployment', () => {
  it(
    'continues without an account → the client owns the account until a person claims it',
    async () => {
      const empty = await startConsentWorld({ env: { REDIS_URL: '', BOOTSTRAP_MANAGEMENT_KEY: '' } });
      const browser = await startBrowser();
      client = await McpOAuthClient.make(empty.baseUrl, REVISIONS[0], 'read');
      try {
        await client.connect();
        page = await browser.newPage();
        await page.goto(String(client.authorizationUrl));
        await page.getByText('Continue without an account').first().click();
        await page.getByRole('checkbox').check();
        await page.getByRole('button', { name: 'Continue without an account' }).click();
        await client.finish();
        expect(client.stored?.scope).toBe('manage');
        const connected = await client.connect();
        const account = await connected?.callTool({ name: 'get_account', arguments: {} });
        expect(account?.structuredContent).toMatchObject({ account: { claimed: false } });
      } finally {
        await client.stop();
        await browser.close();
        await empty.stop();
      }
    },
    BROWSER_MS,
  );
});
