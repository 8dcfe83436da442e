import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser } from '../../support/console/console-browser.js';
import { freePort } from '../../support/platform/gateway-process.js';
import { startWorld, type World } from '../../support/world.js';

const TOUR_MS = 60_000;
const EMAIL = 'ada@example.com';

let world: World;
let chromium: Browser;
let browser: ConsoleBrowser;

describeWithBrowser('passkeys in the console, with the virtual authenticator of the browser', () => {
  beforeAll(async () => {
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    world = await startWorld({ env: { PORT: String(port), PUBLIC_URL: origin, BOOTSTRAP_MANAGEMENT_KEY: '' } });
    chromium = await startBrowser();
    browser = await ConsoleBrowser.open({ ...world, baseUrl: origin }, chromium);
    const devtools = await browser.context.newCDPSession(browser.page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
        ...{ isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
  }, TOUR_MS);

  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it(
    'added in the settings → listed; the next sign-in needs neither e-mail nor password',
    async () => {
      const { page } = browser;
      await browser.go('/signup');
      await browser.register(EMAIL);
      await page.getByRole('heading', { level: 1, name: 'Guided start' }).waitFor();
      await browser.go('/settings/security');
      await page.getByLabel('Name of a new passkey').fill('Laptop');
      await page.getByRole('button', { name: 'Add passkey' }).click();
      await page.getByRole('button', { name: 'Remove Laptop' }).waitFor();
      expect(await browser.axe()).toEqual([]);
      await browser.context.clearCookies();
      await browser.go('/login');
      expect(await browser.axe()).toEqual([]);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
      await browser.go('/settings/security');
      await page.getByText(/last used (?:now|\d+ seconds? ago)/).waitFor();
    },
    TOUR_MS,
  );

  it(
    'removed → the browser still offers it, and the sign-in says that it failed',
    async () => {
      const { page } = browser;
      await page.getByRole('button', { name: 'Remove Laptop' }).click();
      await page.getByLabel('Type “Laptop” to confirm').fill('Laptop');
      await page.getByRole('button', { name: 'Remove', exact: true }).click();
      await page.getByText('You have no passkey.').waitFor();
      await browser.context.clearCookies();
      await browser.go('/login');
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByText('The sign-in with a passkey failed; try again.').waitFor();
      expect(browser.complaints).toEqual([]);
    },
    TOUR_MS,
  );
});
