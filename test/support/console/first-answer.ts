import { expect } from '@jest/globals';
import type { ConsoleBrowser } from './console-browser.js';

/** A person registers, starts without a key of a provider and sends the first call, until its answer is there. */
export async function askForFirstAnswer(browser: ConsoleBrowser, email: string): Promise<void> {
  const { page } = browser;
  await browser.go('/');
  await browser.register(email);
  await page.getByRole('heading', { level: 1, name: 'Guided start' }).waitFor();
  await page.getByRole('radio', { name: 'Simulated provider' }).check();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Application name').fill('Journal');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  for (const language of ['curl', 'Node', 'Python', 'Swift']) {
    await page.getByRole('tab', { name: language }).click();
    expect(await page.getByRole('tabpanel').textContent()).toMatch(/\/proxy\/simulated\/v1.*gw_\w{48}/s);
  }
  await page.getByRole('button', { name: 'Send it from here' }).click();
  await page.getByText('Your first request has arrived').waitFor();
  expect(await page.getByText('This answer is simulated').isVisible()).toBe(true);
}
