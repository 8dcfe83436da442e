/**
 * Measures the console in Chromium on a database that `list-times` has filled, and `generate-usage` for both accounts:
 * `npm run build && node bench/accounts/console-times.mjs --url=postgres://… [--only=pages,interactive,scroll]`
 *
 * `pages`: the slowest answer of each page, and the time from the address to the page without skeletons, in a browser that
 * has the scripts. `interactive`: the same with an empty cache and a processor slowed down to a quarter. `scroll`: the
 * longest task while lists are scrolled to their end, or to `--rows`. All in milliseconds.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { percentile } from '../statistics.mjs';
import { ACCOUNTS, startOwnerConsole } from './owner-console.mjs';

const PAGE_BOUND_MS = 500;
const INTERACTIVE_BOUND_MS = 1_000;
const TASK_BOUND_MS = 100;
const REPEATS = 7;
const SLOWED_DOWN = 4;
/** A page that has not changed for this long is complete. */
const QUIET_MS = 400;
const PATIENCE_MS = 30_000;
const VIEWPORT = { width: 1280, height: 860 };

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    only: { type: 'string', default: 'pages,interactive,scroll' },
    rows: { type: 'string', default: '1000' },
  },
});
if (values.url === undefined) throw new Error('--url names the database that was filled');
const executablePath = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (place) => place !== undefined && existsSync(place),
);

const service = await startOwnerConsole(values.url);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
let over = 0;

/** Runs in the page: notes when it changed, and every task above 50 ms. */
const OBSERVE = `
  window.longTasks = [];
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });
  new MutationObserver(() => { window.changedMs = performance.now(); })
    .observe(document, { childList: true, subtree: true, attributes: true });`;

/** Runs in the page: when it changed last, once it is complete, and what its slowest answer took. */
const SHOWN = `(() => {
  if (document.querySelector('h1') === null || document.querySelector('[aria-busy=true]') !== null) return undefined;
  if (performance.now() - window.changedMs < ${QUIET_MS}) return undefined;
  const asked = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/v1/'));
  return {
    shownMs: window.changedMs,
    answerMs: Math.max(0, ...asked.map(({ responseEnd, requestStart }) => responseEnd - requestStart)),
  };
})()`;

/** Runs in the page: the rows of its longest table, also those that are not in the page. */
const ROWS = `Math.max(...Array.from(document.querySelectorAll('table'),
  (table) => Number(table.ariaRowCount ?? table.querySelectorAll('tbody tr').length)))`;

async function contextOf(account) {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const cookies = Object.entries(await service.cookiesOf(account));
  await context.addCookies(cookies.map(([name, value]) => ({ name, value, url: service.url })));
  await context.addInitScript(OBSERVE);
  return context;
}

async function timesOf(page, route) {
  await page.goto(service.url + route, { waitUntil: 'commit' });
  for (const endMs = performance.now() + PATIENCE_MS; performance.now() < endMs; ) {
    await page.waitForTimeout(QUIET_MS / 2);
    const shown = await page.evaluate(SHOWN);
    if (shown !== undefined) return shown;
  }
  throw new Error(`${route} is not complete after ${PATIENCE_MS} ms`);
}

function report(name, figures, bound) {
  const isOver = figures.at(-1) > bound;
  if (isOver) over++;
  const columns = figures.map((ms) => ms.toFixed(0).padStart(7)).join(' ');
  console.log(`${name.padEnd(44)} ${columns}${isOver ? '  over' : ''}`);
}

async function busiestApp(account) {
  const { rows } = await service.database.query(
    'SELECT app_id FROM usage_app_months WHERE organization_id = $1 GROUP BY app_id ORDER BY sum(requests) DESC LIMIT 1',
    [account],
  );
  if (rows.length === 0) throw new Error(`${account} has no usage: run generate-usage --account=${account}`);
  return rows[0].app_id;
}

const TABS = ['overview', 'auth', 'proxy', 'endpoints', 'limits', 'users', 'usage', 'auth-events', 'settings'];
const PAGES = ['/apps', '/apps/new', '/providers', '/providers/gateways', '/access', '/members', '/audit', '/health'];

async function measurePages() {
  console.log('page                                          answer   shown     p95');
  for (const account of Object.values(ACCOUNTS)) {
    const app = await busiestApp(account);
    const context = await contextOf(account);
    const page = await context.newPage();
    for (const route of [...PAGES, ...TABS.map((tab) => `/apps/${app}/${tab}`), '/settings/security']) {
      const times = [];
      await timesOf(page, route);
      for (let round = 0; round < REPEATS; round++) times.push(await timesOf(page, route));
      const sorted = (name) => times.map((time) => time[name]).sort((a, b) => a - b);
      const shown = sorted('shownMs');
      report(
        `${account} ${route.replace(app, ':app')}`,
        [percentile(sorted('answerMs'), 0.5), percentile(shown, 0.5), percentile(shown, 0.95)],
        PAGE_BOUND_MS,
      );
    }
    await context.close();
  }
}

async function measureInteractive() {
  console.log(`\nempty cache, processor at 1/${SLOWED_DOWN}                   shown`);
  for (const route of ['/login', '/apps', '/providers']) {
    const times = [];
    for (let round = 0; round < REPEATS; round++) {
      const context = await contextOf(ACCOUNTS.small);
      if (route === '/login') await context.clearCookies();
      const page = await context.newPage();
      const devtools = await context.newCDPSession(page);
      await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWED_DOWN });
      times.push((await timesOf(page, route)).shownMs);
      await context.close();
    }
    times.sort((a, b) => a - b);
    report(route, [percentile(times, 0.5)], INTERACTIVE_BOUND_MS);
  }
}

/** Scrolls like a wheel does, and lets the page load more at its end. */
async function measureScroll() {
  console.log('\nscrolled                                        rows longest task');
  const app = await busiestApp(ACCOUNTS.small);
  const context = await contextOf(ACCOUNTS.small);
  for (const tab of ['users', 'usage']) {
    const page = await context.newPage();
    await timesOf(page, `/apps/${app}/${tab}`);
    await page.evaluate('window.longTasks.length = 0');
    const rows = () => page.evaluate(ROWS);
    let shown = 0;
    for (let quiet = 0; quiet < 20 && shown < Number(values.rows); ) {
      await page.mouse.move(VIEWPORT.width / 2, VIEWPORT.height / 2);
      await page.mouse.wheel(0, 2_000);
      await page.waitForTimeout(50);
      const now = await rows();
      quiet = now > shown ? 0 : quiet + 1;
      shown = now;
    }
    const longest = await page.evaluate('Math.max(0, ...window.longTasks)');
    report(`/apps/:app/${tab}`, [shown, longest], TASK_BOUND_MS);
    await page.close();
  }
  await context.close();
}

const PARTS = { pages: measurePages, interactive: measureInteractive, scroll: measureScroll };
try {
  for (const part of values.only.split(',')) await PARTS[part]();
  console.log(over === 0 ? '\nwithin every bound' : `\n${over} over their bounds`);
} finally {
  await browser.close();
  await service.stop();
}
