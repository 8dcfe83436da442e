import { existsSync } from 'node:fs';
import { describe } from '@jest/globals';
import { type Browser, chromium } from 'playwright-core';

/**
 * Where distributions install it, the one without a window first: it takes half of the CPU. `CHROMIUM_PATH` names
 * another.
 */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const PATHS = [process.env.CHROMIUM_PATH, ...NAMES.map((name) => `/usr/bin/${name}`)];

const executablePath = PATHS.find((path) => path !== undefined && existsSync(path));

/** A suite that drives a real browser; reported as skipped, by name, where there is none. */
export const describeWithBrowser = executablePath === undefined ? describe.skip : describe;

/** Starts a headless browser, with the scrollbars that most people see. Close it in `afterAll`. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    ignoreDefaultArgs: ['--hide-scrollbars'],
  });
}
