import { describe, expect, it } from '@jest/globals';
import { routeKindOf } from './route-kind.rules.js';

describe('routeKindOf', () => {
  it.each([
    ['/v1/apps/notes-abc123/proxy/openai/v1/responses?x=/me', 'proxy'],
    ['/v1/apps/a/proxy/', 'proxy'],
    ['/v1/apps/a/endpoints/summarize', 'endpoint'],
    ['/v1/apps/a/auth/token', 'auth'],
    ['/v1/apps/a/me', 'me'],
    ['/v1/apps/a/me?x=1', 'me'],
    ['/v1/admin/apps/a/usage', 'admin'],
    ['/v1/admin/x/proxy/y', 'admin'],
    ['/v1/apps/a/men', 'other'],
    ['/v1/apps/a/me/x', 'other'],
    ['/v1/apps/a', 'other'],
    ['/v1/apps/', 'other'],
    ['/v1/apps', 'other'],
    ['/v1/admin', 'other'],
    ['/v1/apps?x=/v1/admin/', 'other'],
    ['/v1/healthz', 'other'],
    ['/metrics', 'other'],
    ['/V1/admin/apps', 'other'],
    ['http://x/v1/admin/apps', 'other'],
    ['*', 'other'],
    ['', 'other'],
  ])('%s → %s', (url, kind) => {
    expect(routeKindOf(url)).toBe(kind);
  });
});
