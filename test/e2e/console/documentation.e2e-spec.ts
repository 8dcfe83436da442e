import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { ERRORS } from '../../../src/common/errors/error-catalogue.js';
import { REASONS } from '../../../src/common/errors/reasons.js';
import { describeWithBrowser, startBrowser } from '../../support/browser/chromium.js';
import { ConsoleBrowser, WIDE } from '../../support/console/console-browser.js';
import { openRaw } from '../../support/raw-client.js';
import { startWorld, type World } from '../../support/world.js';

interface ListedPage {
  readonly address: string;
  readonly title: string;
  readonly group: string;
}

const HELP = new URL('../../../clients/console/src/design/documentation.rules.ts', import.meta.url);
const PATIENCE_MS = 60_000;
const ID = / id="([^"]+)"/g;
const LINK = /<a [^>]*href="([^"]+)"/g;
/** Resources that a browser loads automatically. */
const LOADED = /<(?:script|link|img|source|iframe)\b[^>]*\b(?:src|href|srcset)="([^"]+)"/g;

let world: World;
let pages: readonly ListedPage[];
const texts = new Map<string, string>();

const read = (path: string, headers: Record<string, string> = {}) =>
  fetch(world.baseUrl + path, { headers, redirect: 'manual' });
/** The status of a request whose path and host are sent unchanged. */
async function statusOf(path: string, host = new URL(world.baseUrl).host): Promise<number> {
  const { answer } = openRaw(world.baseUrl, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  return Number((await answer).text.split(' ')[1]);
}

const all = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].map(([, found = '']) => found);
const textAt = (address: string) => texts.get(address) ?? '';

beforeAll(async () => {
  world = await startWorld({ env: { REDIS_URL: '', BOOTSTRAP_MANAGEMENT_KEY: '' } });
  pages = JSON.parse(await (await read('/docs/pages.json')).text());
  for (const { address } of pages) texts.set(address, await (await read(address)).text());
}, PATIENCE_MS);
afterAll(() => world.stop());

describe('pages of the documentation', () => {
  it('the list of pages → every document once, with a title and a group', () => {
    const addresses = pages.map(({ address }) => address);
    expect(addresses).toEqual(
      expect.arrayContaining([
        ...['/docs', '/docs/guides/production', '/docs/reference/security', '/docs/errors', '/docs/reasons'],
        ...['/docs/configuration', '/docs/cli', '/docs/adr', '/docs/adr/0066-one-program', '/docs/changelog'],
      ]),
    );
    expect(new Set(addresses).size).toBe(addresses.length);
    expect(pages.filter(({ title, group }) => title === '' || group === '')).toEqual([]);
  });

  it('every page → one heading of the first level, no unescaped markup, nothing loaded from another host', () => {
    for (const [address, text] of texts) {
      expect([address, all(/<h1 id="([^"]+)"/g, text).length]).toEqual([address, 1]);
      expect(all(LOADED, text).filter((loaded) => !/^\/(?:assets|docs)\/[\w./-]+$/.test(loaded))).toEqual([]);
      expect(all(/<(script(?![^>]*src)[^>]*)>/g, text)).toEqual(['script']);
      expect(text).not.toMatch(/ on\w+=|javascript:|<style|<iframe| style="/);
    }
  });

  it('every link and anchor of every page → has a target', async () => {
    const dead: string[] = [];
    const others = new Set<string>();
    for (const [address, text] of texts) {
      for (const link of all(LINK, text)) {
        if (/^https?:\/\//.test(link)) continue;
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? address : path;
        if (!texts.has(target)) others.add(target);
        else if (anchor !== undefined && !all(ID, textAt(target)).includes(anchor)) dead.push(`${address}: ${link}`);
      }
    }
    for (const path of others) if (!(await read(path)).ok) dead.push(path);
    expect(dead).toEqual([]);
    expect([...others].sort()).toEqual(expect.arrayContaining(['/', '/docs/schemas/gw.schema.json', '/openapi.json']));
  });

  it('ids of a page → each once', () => {
    const repeated = [...texts].flatMap(([address, text]) => {
      const ids = all(ID, text);
      return ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${address}#${id}`);
    });
    expect(repeated).toEqual([]);
  });

  it('every error code and reason → its own anchor', () => {
    const codes = all(ID, textAt('/docs/errors'));
    expect(Object.keys(ERRORS).filter((code) => !codes.includes(code))).toEqual([]);
    const reasons = all(ID, textAt('/docs/reasons'));
    expect(Object.keys(REASONS).filter((reason) => !reasons.includes(reason))).toEqual([]);
    expect(all(ID, textAt('/docs/configuration'))).toContain('PUBLIC_URL');
  });
});

describe('help of the console', () => {
  const links = all(/'(\/docs(?:[/#][^'`]*)?)'/g, readFileSync(HELP, 'utf8'));

  it.each(links)('%s → an existing page or section', (link) => {
    const [address = '', anchor] = link.split('#');
    expect(texts.has(address)).toBe(true);
    if (anchor !== undefined) expect(all(ID, textAt(address))).toContain(anchor);
  });

  it('its links → found', () => expect(links.length).toBeGreaterThan(10));
});

describe('how pages are served', () => {
  it('headers → only own files, no frame, cached by content', async () => {
    const answer = await read('/docs/errors', { 'accept-encoding': 'br' });
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-encoding')]).toEqual([
      ...[200, 'text/html; charset=utf-8', 'br'],
    ]);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; .*form-action 'none'; frame-ancestors 'none'; base-uri 'none'$/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect([answer.headers.get('x-frame-options'), answer.headers.get('x-content-type-options')]).toEqual([
      ...['DENY', 'nosniff'],
    ]);
    expect([answer.headers.get('cache-control'), answer.headers.get('vary')]).toEqual([
      ...['public, no-cache', 'accept-encoding'],
    ]);
    const etag = answer.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[\w-]{16}"$/);
    const again = await read('/docs/errors', { 'if-none-match': `"x", ${etag}` });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await read('/docs/reasons', { 'if-none-match': etag })).status).toBe(200);
  });

  it('the search index and images → cached for a year, at a URL that changes with them', async () => {
    const [, index = ''] = /name="search-index" content="([^"]+)"/.exec(textAt('/docs')) ?? [];
    const [picture = ''] = all(LOADED, textAt('/docs')).filter((path) => path.endsWith('.png'));
    for (const path of [index, picture]) {
      expect(path).toMatch(/^\/docs\/[\w/-]+-[\w-]{16}\.(?:json|png)$/);
      const answer = await read(path);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
  });

  it.each([
    ['/docs/', '/docs'],
    ['/docs/errors/', '/docs/errors'],
    ['/docs/guides/production.md', '/docs/guides/production'],
  ])('%s → leads to %s', async (path, target) => {
    const answer = await read(path);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, target]);
  });

  it.each([
    ...['/docs/nothing', '/docs/files.json', '/docs/..%2ffiles.json', '/docs/%2e%2e/package.json', '/docs/nothing.md'],
    ...['/docs//errors', '/docs/constructor', '/docs/__proto__', '/docs/errors%00', '/Docs', '/docs/guides'],
  ])('%s → 404', async (path) => {
    expect(await statusOf(path)).toBe(404);
  });

  it('under a host name other than the console’s → 404', async () => {
    expect(await statusOf('/docs/errors', 'other.example')).toBe(404);
  });
});

describeWithBrowser('the documentation in a browser', () => {
  let chromium: Browser;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    chromium = await startBrowser();
    browser = await ConsoleBrowser.open(world, chromium);
  });
  afterAll(() => chromium.close());

  it.each(['/docs', '/docs/errors', '/docs/guides/production', '/docs/reference/management-api', '/docs/cli'])(
    '%s → no axe-core violation in both themes and two widths, nothing wider than the screen',
    async (path) => {
      const { page } = browser;
      await browser.go(path);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const width of [390, WIDE.width]) {
          await page.setViewportSize({ width, height: WIDE.height });
          expect(await browser.axe()).toEqual([]);
          expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
        }
      }
      expect(browser.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it('search, keyboard only → from a word to its section', async () => {
    const { page } = browser;
    await page.setViewportSize(WIDE);
    await browser.go('/docs');
    await page.keyboard.press('/');
    await page.keyboard.type('app_not_fou');
    const results = page.getByRole('listbox', { name: 'Results' });
    await results.getByRole('option', { name: 'app_not_found', selected: true }).waitFor();
    expect(await browser.axe()).toEqual([]);
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('option', { name: 'app_not_found' }).getAttribute('aria-selected')).toBe('false');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/errors#app_not_found');
    await page.getByRole('combobox', { name: 'Search the documentation' }).fill('zzzzzz');
    await page.getByText('Nothing matches “zzzzzz”.').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByText('Nothing matches “zzzzzz”.').isVisible()).toBe(false);
    expect(browser.complaints).toEqual([]);
  });

  it.each(['block', 'refused', 'budget', 'MCP'])('“%s” → a guide comes first', async (word) => {
    const { page } = browser;
    await browser.go('/docs');
    await page.getByRole('combobox', { name: 'Search the documentation' }).fill(word);
    const first = page.getByRole('option').first();
    await first.waitFor();
    const guides = pages.filter(({ group }) => group === 'Guides').map(({ address }) => address);
    expect(guides).toContain((await first.getAttribute('data-address'))?.split('#')[0]);
  });

  it('the theme → chosen here, kept, and set before the first paint', async () => {
    const { page } = browser;
    await browser.go('/docs/errors');
    await page.getByRole('button', { name: 'Theme: system' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    await browser.go('/docs');
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    await page.getByRole('button', { name: 'Theme: dark' }).click();
    expect(await page.evaluate('localStorage.getItem("theme")')).toBeNull();
  });

  it('a block of code → copied unchanged', async () => {
    const { page, context } = browser;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await browser.go('/docs');
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm ci\nnpm start');
  });

  it('narrow → the list of pages is behind a link', async () => {
    const { page } = browser;
    await page.setViewportSize({ width: 390, height: WIDE.height });
    await browser.go('/docs/errors');
    const list = page.getByRole('navigation', { name: 'Pages', exact: true });
    expect(await list.isVisible()).toBe(false);
    await page.getByRole('link', { name: 'Pages', exact: true }).click();
    await list.getByRole('link', { name: 'Reasons' }).click();
    await page.waitForURL('**/docs/reasons');
    expect(await list.isVisible()).toBe(false);
  });

  it('an error and a page of the console → link to their documentation', async () => {
    const person = await ConsoleBrowser.open(world, chromium);
    const { page } = person;
    await person.go('/signup');
    await person.register('ada@example.com');
    await page.getByRole('heading', { level: 1, name: 'Guided start' }).waitFor();
    await person.go('/apps/no-such-app/overview');
    const [about] = await Promise.all([
      person.context.waitForEvent('page'),
      page.getByRole('link', { name: 'About the error app_not_found' }).click(),
    ]);
    await about.waitForURL('**/docs/errors#app_not_found');
    await about.locator('tr:target', { hasText: 'Application not found.' }).waitFor();
    await person.go('/providers/gateways');
    const help = page.getByRole('link', { name: 'How an upstream gateway works' }).first();
    expect(await help.getAttribute('href')).toBe('/docs/guides/upstream-gateways');
    await person.close();
  });

  it('without JavaScript → the text and its links', async () => {
    const context = await chromium.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${world.baseUrl}/docs/errors`);
    await page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link', { name: 'Reasons' }).click();
    await page.waitForURL('**/docs/reasons');
    expect(await page.getByRole('combobox').count()).toBe(0);
    await context.close();
  });
});
