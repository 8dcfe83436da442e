import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startWorld, type World } from '../../support/world.js';

let world: World;

beforeAll(async () => {
  world = await startWorld({ env: { REDIS_URL: '' } });
});
afterAll(() => world.stop());

const page = (path: string, headers: Record<string, string> = {}) =>
  fetch(world.baseUrl + path, { headers, redirect: 'manual' });

async function scriptOf(path: string): Promise<string> {
  const [, asset = ''] = /src="(\/assets\/index-[\w-]+\.js)"/.exec(await (await page(path)).text()) ?? [];
  return asset;
}

describe('pages of the console', () => {
  it.each([
    ...['/recover', '/reset'],
    ...['/', '/login', '/signup', '/invite', '/start', '/apps', '/apps/new', '/apps/some-app/overview'],
    ...['/apps/some-app/auth-events', '/providers', '/providers/gateways', '/models', '/access', '/members', '/audit'],
    ...['/health', '/settings/profile', '/settings/security'],
  ])('%s → the page', async (path) => {
    const answer = await page(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await answer.text()).toContain('<div id="root">');
  });

  it('headers → a new nonce each time, no frame, no inline code without it, no cache', async () => {
    const nonces = await Promise.all(
      [1, 2].map(async () => {
        const answer = await page('/apps');
        const policy = answer.headers.get('content-security-policy') ?? '';
        const [, nonce = ''] = /script-src 'self' 'nonce-([\w-]{22})'/.exec(policy) ?? [];
        expect(policy).toMatch(/^default-src 'none'; .*frame-ancestors 'none'; base-uri 'none'$/);
        expect(policy).not.toContain('unsafe');
        expect(answer.headers.get('cache-control')).toBe('no-store');
        expect(answer.headers.get('x-frame-options')).toBe('DENY');
        const html = await answer.text();
        expect(html).not.toContain('__CSP_NONCE__');
        expect(html.match(/<script(?![^>]*\bsrc=)[^>]*>/g)).toEqual([`<script nonce="${nonce}">`]);
        return nonce;
      }),
    );
    expect(new Set(nonces).size).toBe(2);
  });

  it.each([
    ...['/nothing', '/apps/some-app', '/apps/some-app/nothing', '/apps/some-app/overview/more', '/settings'],
    ...['/settings/nothing', '/index.html', '/Apps', '/apps/', '//apps', '/v1/nothing', '/health/x'],
  ])('%s → the 404 of the API, in JSON', async (path) => {
    const answer = await page(path);
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: { code: 'invalid_request', message: 'Route not found' } },
    ]);
  });

  it('another method → the 404 of the API', async () => {
    expect((await fetch(`${world.baseUrl}/apps`, { method: 'POST' })).status).toBe(404);
  });
});

describe('assets', () => {
  it('the script of the page → cached for a year, compressed as the client accepts', async () => {
    const asset = await scriptOf('/');
    for (const [accepted, coding] of [
      ['br, gzip', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['identity', null],
    ] as const) {
      const answer = await page(asset, { 'accept-encoding': accepted });
      expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, coding]);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect([answer.headers.get('content-type'), answer.headers.get('vary')]).toEqual([
        ...['text/javascript; charset=utf-8', 'accept-encoding'],
      ]);
      expect((await answer.text()).length).toBeGreaterThan(100_000);
    }
  });

  it.each(['/assets/index-nothing.js', '/assets/..%2findex.html', '/assets/', '/assets/index.html', '/assets/x/y.js'])(
    '%s → 404, not the page',
    async (path) => {
      const answer = await page(path);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json; charset=UTF-8']);
    },
  );
});
