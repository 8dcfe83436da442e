import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { eventually } from '../../support/eventually.js';
import { Gw, type GwRun } from '../../support/gw/gw.js';
import { startWorld, type World } from '../../support/world.js';

const BROWSER_MS = 60_000;
let world: World;
let origin: string;
let chromium: Browser;
let page: Page;
let gw: Gw;
let people = 0;

describeWithBrowser('gw account login with the browser of this machine', () => {
  beforeAll(async () => {
    world = await startWorld({
      env: { REDIS_URL: '', ALLOW_ADDITIONAL_REGISTRATIONS: 'true', TRUSTED_PROXIES: '127.0.0.1/32' },
    });
    origin = `http://localhost:${new URL(world.baseUrl).port}`;
    chromium = await startBrowser();
  }, BROWSER_MS);
  beforeEach(async () => {
    const context = await chromium.newContext({ extraHTTPHeaders: { 'x-forwarded-for': `198.51.100.${++people}` } });
    page = await context.newPage();
    gw = new Gw({ DISPLAY: ':99', GW_URL: world.baseUrl });
    const opener = join(gw.home, 'xdg-open');
    writeFileSync(
      opener,
      `#!/bin/sh\nprintf '%s' "$1" > "${join(gw.home, 'opened.new')}"\n/bin/mv "${join(gw.home, 'opened.new')}" "${join(gw.home, 'opened')}"\n`,
    );
    chmodSync(opener, 0o755);
  });
  afterEach(() => gw.remove());
  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  /** Begins a login and opens the link that the program has opened. */
  async function begun(): Promise<{ readonly run: Promise<GwRun> }> {
    const run = gw.runAsProcess('account login --json', '', { PATH: gw.home });
    let ended: GwRun | undefined;
    void run.then((value) => {
      ended = value;
    });
    await eventually(() => ended !== undefined || existsSync(join(gw.home, 'opened')), { withinMs: 20_000 });
    expect(ended).toBeUndefined();
    const link = readFileSync(join(gw.home, 'opened'), 'utf8');
    await page.goto(origin + link.slice(new URL(link).origin.length));
    await page.getByText('Register instead').click();
    await page.locator('#name').fill('Ada Lovelace');
    await page.locator('#newEmail').fill(`person-${people}@example.com`);
    await page.locator('#newPassword').fill('correct horse battery');
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByText('You are signed in as').waitFor();
    return { run };
  }

  it(
    'approve → the browser returns, and the key is saved readable only by this person',
    async () => {
      const { run } = await begun();
      await page.getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByText('You are logged in. You can close this page.').waitFor();
      const { exitCode, json, stdout } = await run;
      expect([exitCode, json.result.state]).toEqual([0, 'completed']);
      expect(stdout).not.toContain('gw_mgmt_');
      expect(statSync(join(gw.stateFolder, 'profiles/default.key')).mode & 0o777).toBe(0o600);
      expect((await gw.run('account status --json')).json.result.account.id).toBe(json.result.accountId);
      expect((await gw.run('account logout --json')).exitCode).toBe(0);
    },
    BROWSER_MS,
  );

  it(
    'deny → exit 4, without the redirect',
    async () => {
      const { run } = await begun();
      await page.getByRole('button', { name: 'Deny' }).click();
      const { exitCode, json } = await run;
      expect([exitCode, json.error.code]).toEqual([4, 'login_denied']);
    },
    BROWSER_MS,
  );

  it(
    'a listener called by others → answers 404, and keeps waiting for its code',
    async () => {
      const { run } = await begun();
      const approving = page.waitForRequest((request) => request.url().includes('/callback?code='));
      await page.route('**/callback?code=*', async (route) => {
        const { port } = new URL(route.request().url());
        const wrongCode = `/callback?code=${'x'.repeat(43)}`;
        for (const path of ['/', '//', '/callback', '/callback?code=short', '/callback?error=x', wrongCode]) {
          const status = await new Promise((resolve) => {
            get({ port, path, host: '127.0.0.1' }, (answer) => resolve(answer.resume().statusCode));
          });
          expect(status).toBe(404);
        }
        await route.continue();
      });
      await page.getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Approve' }).click();
      await approving;
      expect((await run).exitCode).toBe(0);
    },
    BROWSER_MS,
  );

  it('no program to open links → prints the link on standard error, and waits', async () => {
    const run = gw.onTerminal('account login', { PATH: '' });
    await run.shows('Opening http');
    run.type('\u0003');
    expect(await run.ended).toBe(130);
    expect(run.screen).toContain('--no-open');
  });
});
