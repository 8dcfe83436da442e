import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { newOrganization } from '../../support/accounts/people.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { proofIn, Terminal } from '../../support/cli/terminal.js';
import { startWorld, type World } from '../../support/world.js';

const PASSWORD = 'correct horse battery';
const MARKUP = '<img src=x onerror="document.title=\'owned\'">"\'';
const BROWSER_MS = 60_000;

let world: World;
let chromium: Browser;
let context: BrowserContext;
let page: Page;
/** Where the browser finds the service: the host under which it is the console. */
let origin: string;
let people = 0;

describeWithBrowser('approval pages in a browser', () => {
  beforeAll(async () => {
    world = await startWorld({
      env: { REDIS_URL: '', ALLOW_ADDITIONAL_REGISTRATIONS: 'true', TRUSTED_PROXIES: '127.0.0.1/32' },
    });
    origin = `http://localhost:${new URL(world.baseUrl).port}`;
    chromium = await startBrowser();
  }, BROWSER_MS);
  beforeEach(async () => {
    context = await chromium.newContext({ extraHTTPHeaders: { 'x-forwarded-for': `198.51.100.${++people}` } });
    page = await context.newPage();
  });
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  const linkOf = (opened: { body: { url: string } }) =>
    origin + opened.body.url.slice(new URL(opened.body.url).origin.length);

  async function register(): Promise<string> {
    const email = `person-${people}@example.com`;
    await page.getByText('Register instead').click();
    await page.locator('#name').fill('Ada Lovelace');
    await page.locator('#newEmail').fill(email);
    await page.locator('#newPassword').fill(PASSWORD);
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByText('You are signed in as').waitFor();
    return email;
  }

  async function approve(): Promise<void> {
    await page.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Approve' }).click();
  }

  it(
    'the link of a login → proof removed from the address, register, approve; the terminal has a key',
    async () => {
      const terminal = new Terminal(world);
      const opened = await terminal.open({ client: { label: MARKUP, os: 'linux' } });
      await page.goto(linkOf(opened));
      await page.getByText('Sign in to decide').waitFor();
      expect(page.url()).toBe(`${origin}/cli/approve/${encodeURIComponent(terminal.id)}`);
      expect(await page.title()).toBe('Log in a terminal');
      expect(await page.getByText(opened.body.userCode).isVisible()).toBe(true);
      expect(await page.getByText(MARKUP).isVisible()).toBe(true);
      await register();
      await approve();
      await page.getByRole('heading', { name: 'Approved' }).waitFor();
      const { body } = await terminal.poll();
      expect(body.result.credential.token).toMatch(/^gw_mgmt_/);
    },
    BROWSER_MS,
  );

  it(
    'without JavaScript: the code instead of the link, wrong password, sign in, decline',
    async () => {
      const plain = await chromium.newContext({ javaScriptEnabled: false });
      page = await plain.newPage();
      const { owner } = await newOrganization(world);
      const terminal = new Terminal(world);
      const opened = await terminal.open();
      await page.goto(linkOf(opened));
      expect(await page.getByText('scripts are disabled').isVisible()).toBe(true);
      await page.getByRole('link', { name: 'type the code' }).first().click();
      await page.getByRole('textbox').fill('AAAA-AAAA');
      await page.getByRole('button', { name: 'Continue' }).click();
      expect(await page.getByRole('alert').textContent()).toMatch(/No pending login has this code/);
      await page.getByRole('textbox').fill(opened.body.userCode.toLowerCase());
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.locator('#email').fill(owner.email);
      await page.locator('#password').fill('wrong password');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      expect(await page.getByRole('alert').textContent()).toBe('Wrong e-mail or password.');
      await page.getByRole('button', { name: 'Deny' }).click();
      await page.getByRole('heading', { name: 'Denied' }).waitFor();
      expect((await terminal.poll()).body).toMatchObject({ state: 'expired', denied: true });
      await plain.close();
    },
    BROWSER_MS,
  );

  it(
    'a terminal that listens → the browser returns to it with the code, which it redeems',
    async () => {
      const codes: string[] = [];
      const listener = createServer((request, response) => {
        codes.push(new URL(request.url ?? '', 'http://terminal').searchParams.get('code') ?? '');
        response.end('Back in the terminal.');
      });
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
      const { port } = listener.address() as AddressInfo;
      const terminal = new Terminal(world);
      const opened = await terminal.open({ loopbackRedirect: `http://127.0.0.1:${port}/callback` });
      await page.goto(linkOf(opened));
      await register();
      await approve();
      await page.getByText('Back in the terminal.').waitFor();
      const redeemed = await terminal.redeem(codes[0] ?? '');
      expect([redeemed.status, redeemed.body.credential.token]).toEqual([200, expect.stringMatching(/^gw_mgmt_/)]);
      listener.close();
    },
    BROWSER_MS,
  );

  it(
    'a provider’s key → typed into the page; an invalid one is reported there, and the form stays',
    async () => {
      const { owner } = await newOrganization(world);
      const { body } = await owner.client.post('/v1/admin/keys', { name: 'Terminal' });
      const terminal = new Terminal(world);
      const payload = { type: 'openai', name: MARKUP, slug: `openai-${people}` };
      const opened = await terminal.operate(body.key.plaintext, 'provider.add', payload, { browser: true });
      await page.goto(linkOf(opened));
      await page.getByText(MARKUP).waitFor();
      await page.locator('#secret').fill('with a blank at the end ');
      await approve();
      expect(await page.getByRole('alert').textContent()).toMatch(/^secret: must be printable ASCII/);
      await page.locator('#secret').fill('sk-typed-into-the-page-4711');
      await approve();
      await page.getByRole('heading', { name: 'Approved' }).waitFor();
      expect((await terminal.poll()).body.result.provider).toMatchObject({ name: MARKUP, secretHint: '4711' });
    },
    BROWSER_MS,
  );

  it(
    'an incomplete link → says so; keyboard only → everything can be reached',
    async () => {
      await page.goto(`${origin}/cli/approve/op%3A${'0'.repeat(64)}`);
      expect(await page.getByText('address is incomplete').isVisible()).toBe(true);
      const opened = await new Terminal(world).open();
      await page.goto(`${origin}/cli`);
      await page.locator('input:focus').waitFor();
      await page.keyboard.type(opened.body.userCode);
      await page.keyboard.press('Enter');
      await page.getByText('Sign in to decide').waitFor();
      const reached: (string | null)[] = [];
      for (let at = 0; at < 6; at++) {
        await page.keyboard.press('Tab');
        reached.push(await page.evaluate('document.activeElement.id || document.activeElement.textContent.trim()'));
      }
      expect(reached).toEqual(['email', 'password', 'Sign in', 'Register instead', 'Deny', expect.anything()]);
    },
    BROWSER_MS,
  );

  it(
    'headers of every page → no frame, no inline script, no cache, no referrer; forms of other sites → 403',
    async () => {
      const terminal = new Terminal(world);
      const submissionToken = proofIn(await terminal.open());
      for (const path of ['/cli', `/cli/approve/${terminal.id}`]) {
        const { headers } = await fetch(origin + path);
        expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
        expect([headers.get('cache-control'), headers.get('referrer-policy'), headers.get('x-frame-options')]).toEqual([
          ...['no-store', 'no-referrer', 'DENY'],
        ]);
        const body = new URLSearchParams({ submissionToken, step: 'deny' });
        for (const foreign of ['https://evil.example', 'null', undefined]) {
          const sent = await fetch(origin + path, {
            method: 'POST',
            body,
            headers: foreign ? { origin: foreign } : {},
          });
          expect(sent.status).toBe(403);
        }
      }
      expect((await terminal.poll()).body.state).toBe('pending');
    },
    BROWSER_MS,
  );
});
