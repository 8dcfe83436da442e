import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { newOrganization, type Person } from '../../support/accounts/people.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser } from '../../support/console/console-browser.js';
import { freePort } from '../../support/platform/gateway-process.js';
import { startWorld, type World } from '../../support/world.js';

const TOUR_MS = 60_000;
const PASSWORD = 'correct horse battery';
const BY_LINK = 'staple battery horse';
const BY_CODE = 'horse staple correct';

let world: World;
let chromium: Browser;
let owner: Person;
let organizationId: string;
let ofOwner: ConsoleBrowser;
let ofMember: ConsoleBrowser;

/** A registered person as a member of the owner's organization; with `elsewhere`, also the owner of their own. */
async function join(email: string, { elsewhere = false } = {}): Promise<string> {
  const visitor = world.with({ origin: world.consoleOrigin });
  const signedUp = await visitor.post('/v1/auth/sign-up/email', { name: 'A member', email, password: PASSWORD });
  expect(signedUp.status).toBe(200);
  const { id } = signedUp.body.user;
  if (!elsewhere) await world.dataSource.query('DELETE FROM memberships WHERE identity_id = $1', [id]);
  await world.dataSource.query("INSERT INTO memberships VALUES ($1, $2, 'member', now())", [organizationId, id]);
  return (signedUp.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
}

async function signIn(password: string): Promise<void> {
  const { page } = ofMember;
  await page.getByLabel('E-mail').fill('member@example.com');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

describeWithBrowser('a lost password, in the console', () => {
  beforeAll(async () => {
    const port = await freePort();
    // Links name the public address.
    const origin = `http://localhost:${port}`;
    const env = { PORT: String(port), PUBLIC_URL: origin, ALLOW_ADDITIONAL_REGISTRATIONS: 'true' };
    world = { ...(await startWorld({ env })), baseUrl: origin };
    ({ organizationId, owner } = await newOrganization(world));
    chromium = await startBrowser();
    ofOwner = await ConsoleBrowser.open(world, chromium, owner.cookie);
    ofMember = await ConsoleBrowser.open(world, chromium, await join('member@example.com'));
    await join('guest@example.com', { elsewhere: true });
  }, TOUR_MS);

  afterAll(async () => {
    await chromium.close();
    await world.stop();
  });

  it(
    'an owner creates a link, the member sets a password with it → works once, and old sessions end',
    async () => {
      await ofOwner.go('/members');
      await ofOwner.page.getByRole('button', { name: 'Reset password of A member' }).first().waitFor();
      const row = ofOwner.page.getByRole('row', { name: /member@example\.com/ });
      await row.getByRole('button', { name: 'Reset password of A member' }).click();
      const dialog = ofOwner.page.getByRole('dialog', { name: 'A link for a new password' });
      const link = await dialog.locator('code').innerText();
      expect(await ofOwner.axe()).toEqual([]);
      await dialog.getByRole('button', { name: 'I have saved it' }).click();
      const { page } = ofMember;
      await page.goto(link);
      await page.getByLabel('New password').fill(BY_LINK);
      expect(page.url()).not.toContain('#');
      expect(await ofMember.axe()).toEqual([]);
      await page.getByRole('button', { name: 'Set the password' }).click();
      await page.getByText('Your password is set, and all your sessions are signed out.').waitFor();
      await page.getByRole('link', { name: 'Sign in' }).click();
      await signIn(PASSWORD);
      await page.getByRole('alert').waitFor();
      await signIn(BY_LINK);
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
      await page.goto(link);
      await page.getByLabel('New password').fill(BY_CODE);
      await page.getByRole('button', { name: 'Set the password' }).click();
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').innerText()).toMatch(/link/);
      await ofMember.go('/reset');
      await page.getByText('This link is incomplete.').waitFor();
    },
    TOUR_MS,
  );

  it(
    'a member who also belongs to another organization → no link, with the reason',
    async () => {
      const { page } = ofOwner;
      const row = page.getByRole('row', { name: /guest@example\.com/ });
      await row.getByRole('button', { name: 'Reset password of A member' }).click();
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').innerText()).toMatch(/organization|account/);
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(ofOwner.complaints).toEqual([]);
    },
    TOUR_MS,
  );

  it(
    'recovery codes → one sets a password and signs in, once; a wrong one shows an error',
    async () => {
      const { page } = ofMember;
      await ofMember.go('/settings/security');
      await page.getByText('You have no recovery codes.').waitFor();
      await page.getByRole('button', { name: 'Create codes' }).click();
      const dialog = page.getByRole('dialog', { name: 'Your recovery codes' });
      const [code = ''] = (await dialog.locator('code').innerText()).split('\n');
      await dialog.getByRole('button', { name: 'I have saved it' }).click();
      await page.getByText('10 of 10 codes are unused.', { exact: false }).waitFor();
      await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
      await page.getByRole('link', { name: 'Lost your password?' }).click();
      await page.getByLabel('E-mail').fill('member@example.com');
      await page.getByLabel('Recovery code').fill('0000-0000-0000-0000');
      await page.getByLabel('New password').fill(BY_CODE);
      expect(await ofMember.axe()).toEqual([]);
      const act = page.getByRole('button', { name: 'Set the password and sign in' });
      await act.click();
      await page.getByRole('alert').waitFor();
      expect(await page.getByLabel('New password').inputValue()).toBe(BY_CODE);
      await page.getByLabel('Recovery code').fill(code);
      await act.click();
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
      await ofMember.go('/settings/security');
      await page.getByText('9 of 10 codes are unused.', { exact: false }).waitFor();
      expect(ofMember.complaints).toEqual([]);
    },
    TOUR_MS,
  );
});
