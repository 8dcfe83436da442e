import { existsSync } from 'node:fs';
import { describe } from '@jest/globals';
import { type Browser, chromium } from 'playwright-core';

/** Where distributions install it; `CHROMIUM_PATH` names another. */
const PATHS = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const executablePath = PATHS.find((path) => path !== undefined && existsSync(path));

/** A suite that drives a real browser; reported as skipped, by name, where there is none. */
export const describeWithBrowser = executablePath === undefined ? describe.skip : describe;

/** Starts a headless browser. Close it in `afterAll`. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
