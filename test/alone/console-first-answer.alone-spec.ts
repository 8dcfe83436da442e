import { expect, it } from '@jest/globals';
import { describeWithBrowser, startBrowser } from '../support/browser/chromium.js';
import { ConsoleBrowser } from '../support/console/console-browser.js';
import { askForFirstAnswer } from '../support/console/first-answer.js';
import { startWorld } from '../support/world.js';

const TWO_MINUTES_MS = 120_000;

describeWithBrowser('the console, from nothing to the first answer', () => {
  it(
    'registers, starts without a provider key, sends the first call → a streamed answer within two minutes',
    async () => {
      const world = await startWorld({
        env: { REDIS_URL: '', SIMULATED_PROVIDER: 'true', BOOTSTRAP_MANAGEMENT_KEY: '' },
      });
      const chromium = await startBrowser();
      const browser = await ConsoleBrowser.open(world, chromium);
      const startedMs = performance.now();
      await askForFirstAnswer(browser, 'ada@example.com');
      expect(performance.now() - startedMs).toBeLessThan(TWO_MINUTES_MS);
      await chromium.close();
      await world.stop();
    },
    2 * TWO_MINUTES_MS,
  );
});
