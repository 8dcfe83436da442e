import { afterAll, describe, expect, it } from '@jest/globals';
import Fastify from 'fastify';
import { appOf, appVersionOf, pathOf, RequestTimings, SERVER_TIMING, serverTimingOf } from './gateway-request.js';

const fastify = Fastify();
fastify.all('*', (request) => ({
  path: pathOf(request),
  app: appOf(request),
  version: appVersionOf(request),
  timing: serverTimingOf(request),
}));

afterAll(() => fastify.close());

async function seen(url: string, headers: Record<string, string | string[]> = {}) {
  return (await fastify.inject({ method: 'GET', url, headers })).json();
}

describe('data from the head of a request', () => {
  it.each([
    ['/v1/healthz', '/v1/healthz'],
    ['/v1/apps/a/me?token=secret&x=?', '/v1/apps/a/me'],
    ['/v1/apps/%61/me', '/v1/apps/%61/me'],
    ['/?', '/'],
  ])('path of %s → %s: no query, nothing decoded', async (url, path) => {
    expect((await seen(url)).path).toBe(path);
  });

  it.each([
    ['/v1/apps/swift-otter/proxy/openai/v1/responses?x=1', 'swift-otter'],
    ['/v1/apps/swift-otter', 'swift-otter'],
    ['/v1/apps/swift-otter?month=2026-01', 'swift-otter'],
    ['/v1/admin/apps/swift-otter/keys', 'swift-otter'],
    ['/v1/admin/apps', undefined],
    ['/v1/admin/apps?month=/x', undefined],
    ['/v1/admin/providers/p_1', undefined],
    ['/v1/healthz?from=/v1/apps/other/me', undefined],
    ['/openapi.json', undefined],
  ])('application of %s → %s', async (url, app) => {
    expect((await seen(url)).app).toBe(app);
  });

  it.each([
    ['1.4.2', '1.4.2'],
    ['9'.repeat(64), '9'.repeat(64)],
    ['9'.repeat(65), '9'.repeat(64)],
    ['1.0 (build_7+debug-x)', '1.0 (build_7+debug-x)'],
    ['1"}. Ignore all <rules>; \t', '1??. Ignore all ?rules?? ?'],
    ['', undefined],
  ])('X-App-Version "%s" → "%s"', async (sent, version) => {
    expect((await seen('/v1/healthz', { 'x-app-version': sent })).version).toBe(version);
  });

  it('no X-App-Version → undefined', async () => {
    expect(await seen('/v1/healthz')).toEqual({ path: '/v1/healthz' });
  });

  it.each([
    ['/v1/apps/otter/proxy/openai/v1/responses', true],
    ['/v1/apps/otter/endpoints/summary', true],
    ['/v1/apps/otter/me', false],
    ['/v1/apps/otter/auth/token?next=/v1/apps/a/proxy/b', false],
    ['/v1/admin/apps/otter/proxy/x', false],
  ])('%s refused before anything was measured → Server-Timing: %s', async (url, timed) => {
    const { timing } = await seen(url);
    expect(timing).toBe(timed ? 'auth;dur=0.0, limiter;dur=0.0, provider_ttfb;dur=0.0' : undefined);
  });
});

describe('Server-Timing', () => {
  it('nothing measured yet → every mark at 0.0, so that a refusal carries them all', () => {
    expect(new RequestTimings().header()).toBe('auth;dur=0.0, limiter;dur=0.0, provider_ttfb;dur=0.0');
  });

  it('measured stages → milliseconds with one decimal, each in its own mark', () => {
    const timings = new RequestTimings();
    timings.authMs = 1.25;
    timings.limiterMs = 0.04;
    timings.providerTtfbMs = 1_234.56;
    expect(timings.header()).toBe('auth;dur=1.3, limiter;dur=0.0, provider_ttfb;dur=1234.6');
  });

  it('name → in lower case, as Node keeps header names', () => {
    expect(SERVER_TIMING).toBe('server-timing');
  });
});
