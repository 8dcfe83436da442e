import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { SESSION_COOKIE } from '../../../src/accounts/sessions/session-cookie.rules.js';
import { newPerson, type Person } from '../../support/accounts/people.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { FakeClock } from '../../support/clock.js';
import { addApp, type ChangeClient, newChangeClient, SERVER_APP } from '../../support/mcp/change-client.js';
import { startWorld, type World } from '../../support/world.js';

const PASSWORD = 'correct horse battery';
const HOSTILE = '</script><img src=x onerror="document.title=\'owned\'">"\'';
const BROWSER_MS = 60_000;
const MINUTE_MS = 60_000;

const clock = new FakeClock();
let world: World;
let chromium: Browser;
let context: BrowserContext;
let page: Page;
/** Where the browser finds the service: the host under which it is the console. */
let origin: string;
let client: ChangeClient;
let people = 0;

describeWithBrowser('the page that reveals a key, in a browser', () => {
  beforeAll(async () => {
    world = await startWorld({
      clock,
      env: { REDIS_URL: '', ALLOW_ADDITIONAL_REGISTRATIONS: 'true', TRUSTED_PROXIES: '127.0.0.1/32' },
    });
    origin = `http://localhost:${new URL(world.baseUrl).port}`;
    chromium = await startBrowser();
  }, BROWSER_MS);
  beforeEach(async () => {
    clock.advance(MINUTE_MS);
    client = await newChangeClient(world);
    await openContext();
  });
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  async function openContext(javaScriptEnabled = true): Promise<void> {
    const extraHTTPHeaders = { 'x-forwarded-for': `198.51.100.${++people}` };
    context = await chromium.newContext({ extraHTTPHeaders, javaScriptEnabled });
    page = await context.newPage();
  }

  const signInAs = ({ cookie }: Person) =>
    context.addCookies([{ name: SESSION_COOKIE, value: cookie.slice(SESSION_COOKIE.length + 1), url: origin }]);

  /** The status of the page of an operation. */
  async function open(id: string): Promise<number | undefined> {
    return (await page.goto(`${origin}/reveal/${encodeURIComponent(id)}`))?.status();
  }

  const text = () => page.locator('main').innerText();
  const show = () => page.getByRole('button', { name: 'Show the key' }).click();
  const shownKey = () => page.getByLabel(/^Key “/).inputValue();

  /** Registers a person with a password, who then joins the account of the client. */
  async function colleague(): Promise<string> {
    const email = `colleague-${people}@example.com`;
    const { body } = await world
      .with({ origin, 'x-forwarded-for': `198.51.100.${++people}` })
      .post('/v1/auth/sign-up/email', {
        ...{ name: 'Grace', email, password: PASSWORD },
      });
    await world.dataSource.query("INSERT INTO memberships VALUES ($1, $2, 'admin', now())", [
      ...[client.organizationId, body.user.id],
    ]);
    return email;
  }

  it.each([true, false])(
    'JavaScript %s: sign in, see which key it is, press the button → the key, only once',
    async (javaScriptEnabled) => {
      await openContext(javaScriptEnabled);
      const email = await colleague();
      const { id, result } = await addApp(client, HOSTILE);
      expect(await open(id)).toBe(200);
      expect(await text()).not.toContain(result.api_key.key_prefix);
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('Password').fill('wrong password');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      expect(await page.getByRole('alert').textContent()).toBe('Wrong e-mail or password.');
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByText('You are signed in as').waitFor();
      expect(page.url()).toBe(`${origin}/reveal/${encodeURIComponent(id)}`);
      for (const fact of [
        result.api_key.key_prefix,
        result.app.id,
        HOSTILE,
        '“The AI client”',
        client.organizationId,
      ]) {
        expect(await text()).toContain(fact);
      }
      expect([await page.title(), await page.locator('h1').innerText()]).toEqual([
        ...['Reveal a new application key', 'Reveal a new application key'],
      ]);
      await show();
      await page.getByRole('heading', { name: 'Your new application key' }).waitFor();
      const key = await shownKey();
      expect(key).toMatch(/^gw_[A-Za-z0-9]+$/);
      expect(key.startsWith(result.api_key.key_prefix)).toBe(true);
      expect(await page.getByRole('alert').innerText()).toContain('only once');
      expect([await page.title(), await page.locator('img[src=x]').count()]).toEqual(['Your new application key', 0]);
      expect(JSON.stringify(world.logs)).not.toContain(key);
      expect(await open(id)).toBe(409);
      expect(await page.content()).not.toContain(key);
      expect(await page.getByRole('alert').innerText()).toContain('revoke it now');
    },
    BROWSER_MS,
  );

  it(
    'keyboard only → reaches the button, and the key is selected and announced',
    async () => {
      await signInAs(client.owner);
      const { id } = await addApp(client);
      await open(id);
      const reached: unknown[] = [];
      for (let at = 0; at < 2; at++) {
        await page.keyboard.press('Tab');
        reached.push(await page.evaluate('document.activeElement.textContent.trim()'));
      }
      expect(reached).toEqual(['Use another account', 'Show the key']);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Your new application key' }).waitFor();
      expect(await page.evaluate('document.activeElement.id')).toBe('key');
      expect(await page.getByRole('textbox', { name: /^Key “/ }).getAttribute('readonly')).not.toBeNull();
      expect(await page.locator('html').getAttribute('lang')).toBe('en');
    },
    BROWSER_MS,
  );

  it(
    'two windows with the button → the second one says that the key was shown',
    async () => {
      await signInAs(client.owner);
      const { id } = await addApp(client);
      const second = await context.newPage();
      await open(id);
      await second.goto(page.url());
      await show();
      await page.getByRole('heading', { name: 'Your new application key' }).waitFor();
      await second.getByRole('button', { name: 'Show the key' }).click();
      await second.getByRole('alert').waitFor();
      expect(await second.getByRole('alert').innerText()).toContain('The key was already shown at');
      expect(await second.getByRole('button', { name: 'Show the key' }).count()).toBe(0);
    },
    BROWSER_MS,
  );

  it(
    'missing, of another account, a member, too late, not run yet → an explanation with its status; no key, no button',
    async () => {
      const { id } = await addApp(client);
      await signInAs((await newChangeClient(world)).owner);
      expect(await open(`op:${'0'.repeat(64)}`)).toBe(404);
      const missing = await text();
      expect(await open(id)).toBe(404);
      expect(await text()).toBe(missing);
      expect(missing).toContain('no such operation');
      await page.getByRole('button', { name: 'Use another account' }).click();
      await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();

      await signInAs(await newPerson(world, { organizationId: client.organizationId, role: 'member' }));
      expect(await open(id)).toBe(403);
      expect(await text()).not.toContain(SERVER_APP.name);

      await signInAs(client.owner);
      expect(await open(id)).toBe(200);
      clock.advance(15 * MINUTE_MS);
      await show();
      await page.getByText('has expired').waitFor();
      expect(await open(id)).toBe(410);
      const { body } = await client.mcp.call('add_app', { config: SERVER_APP });
      expect(await open(body.id)).toBe(400);
      expect(await page.getByRole('button', { name: 'Show the key' }).count()).toBe(0);
    },
    BROWSER_MS,
  );

  it(
    'headers → no frame, no inline script, no cache, no referrer; forms of other sites → 403, and the key stays available',
    async () => {
      const { id } = await addApp(client);
      const url = `${origin}/reveal/${encodeURIComponent(id)}`;
      const { headers } = await fetch(url, { headers: { cookie: client.owner.cookie } });
      expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect([headers.get('cache-control'), headers.get('referrer-policy'), headers.get('x-frame-options')]).toEqual([
        ...['no-store', 'no-referrer', 'DENY'],
      ]);
      const body = new URLSearchParams({ step: 'reveal' });
      for (const foreign of ['https://evil.example', 'null', undefined]) {
        const sent: Record<string, string> = { cookie: client.owner.cookie, ...(foreign && { origin: foreign }) };
        expect((await fetch(url, { method: 'POST', body, headers: sent })).status).toBe(403);
      }
      const unsigned = await fetch(url, { method: 'POST', body, headers: { origin } });
      expect([unsigned.status, await unsigned.text()]).toEqual([200, expect.stringContaining('Sign in first')]);
      await signInAs(client.owner);
      await open(id);
      await show();
      expect(await shownKey()).toMatch(/^gw_/);
    },
    BROWSER_MS,
  );
});
