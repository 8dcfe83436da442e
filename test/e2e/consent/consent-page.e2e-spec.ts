import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { newOrganization } from '../../support/accounts/people.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import {
  ConsentBrowser,
  clientsFile,
  OAuthTestClient,
  openedIn,
  startConsentWorld,
} from '../../support/consent/oauth-client.js';
import type { World } from '../../support/world.js';

const MARKUP = '<img src=x onerror="document.title=\'owned\'">"\'';
const HOSTILE = 'hostile-client';
const BROWSER_MS = 60_000;

let world: World;
let chromium: Browser;
let context: BrowserContext;
let page: Page;
let servers: Server[] = [];
let people = 0;

/** A listener of the test. @returns its port. */
async function listen(answer: (url: string) => string): Promise<number> {
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(answer(url));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Where the client sends its user's browser. */
function linkOf(members: Readonly<Record<string, string>> = {}): string {
  return `${world.baseUrl}/oauth/authorize?${new OAuthTestClient(world).query({ client_id: HOSTILE, ...members })}`;
}

/** A person who is signed in, in the browser of the test. */
async function signedIn(): Promise<string> {
  const { organizationId, owner } = await newOrganization(world);
  const [name = '', value = ''] = owner.cookie.split('=');
  await context.addCookies([{ name, value, url: world.baseUrl }]);
  return organizationId;
}

describeWithBrowser('the consent page in a browser', () => {
  beforeAll(async () => {
    const client = { client_id: HOSTILE, client_name: MARKUP, redirect_uris: ['http://127.0.0.1/callback'] };
    world = await startConsentWorld({ env: { REDIS_URL: '', OAUTH_CLIENTS_FILE: clientsFile([client]) } });
    chromium = await startBrowser();
  }, BROWSER_MS);
  beforeEach(async () => {
    context = await chromium.newContext({ extraHTTPHeaders: { 'x-forwarded-for': `198.51.100.${++people}` } });
    page = await context.newPage();
  });
  afterEach(async () => {
    await context.close();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    servers = [];
  });
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it(
    'the link → the proof is removed from the address, the client’s own name is shown as text; allowed → redirects to the client without a way back',
    async () => {
      const organizationId = await signedIn();
      const arrived: string[] = [];
      const port = await listen((url) => {
        arrived.push(url);
        return 'Back in the client.';
      });
      await page.goto(linkOf({ redirect_uri: `http://127.0.0.1:${port}/callback` }));
      await page.getByText('You are signed in as').waitFor();
      expect(page.url()).toMatch(/\/oauth\/consent\?id=oauth-[0-9a-f]{64}$/);
      expect(await page.title()).toBe('Give a client access');
      expect(await page.getByText(MARKUP).isVisible()).toBe(true);
      expect(await page.getByText(`127.0.0.1:${port}`, { exact: true }).isVisible()).toBe(true);
      expect(await page.getByText(`198.51.100.${people}`).isVisible()).toBe(true);
      expect(await page.getByText('Theirs').isVisible()).toBe(true);
      await page.getByRole('radio', { name: /read only/ }).check();
      await page.getByRole('button', { name: 'Approve' }).click();
      expect(arrived).toEqual([]);
      await page.getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByText('Back in the client.').waitFor();
      expect(arrived[0]).toMatch(/^\/callback\?code=[\w-]{43}&state=/);
      const [made] = await world.dataSource.query(
        'SELECT access_grant FROM management_keys WHERE organization_id = $1',
        [organizationId],
      );
      expect(made).toEqual({ access_grant: 'read' });
      // Chromium has nothing in its cache to go back to, which is the purpose of no-store.
      await page.goBack().catch(() => undefined);
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    },
    BROWSER_MS,
  );

  it(
    'without JavaScript → explains that the proof cannot be read, and makes no decision',
    async () => {
      const plain = await chromium.newContext({ javaScriptEnabled: false });
      const without = await plain.newPage();
      await without.goto(linkOf());
      expect(await without.getByText('scripts are disabled').isVisible()).toBe(true);
      expect(await without.getByRole('button').count()).toBe(0);
      await plain.close();
    },
    BROWSER_MS,
  );

  it(
    'an incomplete link → says so',
    async () => {
      const { id } = openedIn(await new OAuthTestClient(world).authorize(linkOf().split('?')[1] ?? ''));
      await page.goto(`${world.baseUrl}/oauth/consent?id=${id}`);
      expect(await page.getByText('address is incomplete').isVisible()).toBe(true);
    },
    BROWSER_MS,
  );

  it(
    'keyboard only → reaches account, grant, confirmation, both decisions',
    async () => {
      await signedIn();
      await page.goto(linkOf());
      await page.getByText('You are signed in as').waitFor();
      const reached: unknown[] = [];
      for (let at = 0; at < 8; at++) {
        await page.keyboard.press('Tab');
        reached.push(
          await page.evaluate('document.activeElement.name || document.activeElement.textContent.trim() || null'),
        );
      }
      expect(reached.filter((name) => typeof name === 'string')).toEqual(
        expect.arrayContaining(['organizationId', 'grant', 'sure', 'Approve', 'Deny']),
      );
      const unnamed = await page.evaluate(
        '[...document.querySelectorAll("input:not([type=hidden])")].filter((input) => !input.labels.length).length',
      );
      expect(unnamed).toBe(0);
    },
    BROWSER_MS,
  );

  it(
    'in a frame of another site → not shown',
    async () => {
      await signedIn();
      const port = await listen(() => `<h1>Elsewhere</h1><iframe src="${linkOf().replaceAll('&', '&amp;')}"></iframe>`);
      await page.goto(`http://127.0.0.1:${port}/`);
      await page.getByText('Elsewhere').waitFor();
      await page.waitForLoadState('networkidle');
      for (const frame of page.frames()) expect(await frame.getByText('Give a client access').count()).toBe(0);
    },
    BROWSER_MS,
  );

  it(
    'headers → no frame, no inline script, no cache, no referrer; forms of other sites → 403, and no decision is made',
    async () => {
      const opened = openedIn(await new OAuthTestClient(world).authorize(linkOf().split('?')[1] ?? ''));
      const path = `${world.baseUrl}/oauth/consent?id=${opened.id}`;
      const { headers } = await fetch(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(policy).not.toContain('unsafe-inline');
      expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer']);
      const body = new URLSearchParams({ submissionToken: opened.proof, step: 'deny' });
      for (const foreign of ['https://evil.example', 'null', undefined]) {
        const sent = await fetch(path, { method: 'POST', body, headers: foreign ? { origin: foreign } : {} });
        expect(sent.status).toBe(403);
      }
      expect((await new ConsentBrowser(world).details(opened)).body.state).toBe('pending');
    },
    BROWSER_MS,
  );

  it(
    'an unknown client → a page of the gateway, without a redirect',
    async () => {
      await page.goto(linkOf({ client_id: MARKUP, redirect_uri: 'https://evil.example/' }));
      expect(new URL(page.url()).pathname).toBe('/oauth/authorize');
      expect(await page.getByRole('alert').textContent()).toMatch(/invalid_client/);
      expect(await page.title()).not.toBe('owned');
    },
    BROWSER_MS,
  );
});
