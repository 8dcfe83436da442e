import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { escapedRoute, findEndpointPath, findProxyPath } from './proxy-path.rules.js';

describe('proxy URLs', () => {
  it('any application, slug, path and query → the same parts, nothing decoded', () => {
    const segment = fc.stringMatching(/^[A-Za-z0-9%._~:@!$&'()*+,;=-]{1,20}$/);
    const path = fc.stringMatching(/^[A-Za-z0-9%._~:@/=-]{0,40}$/);
    const query = fc.stringMatching(/^[A-Za-z0-9%._~:@/?=&-]{0,40}$/);
    fc.assert(
      fc.property(segment, segment, path, query, (app, providerSlug, providerPath, search) => {
        const url = `/v1/apps/${app}/proxy/${providerSlug}/${providerPath}?${search}`;
        expect(findProxyPath(url)).toEqual({ appId: app, providerSlug, path: providerPath, query: search });
      }),
    );
  });

  it.each([
    ['openai/v1/responses', 'openai', 'v1/responses', ''],
    ['openai/v1/models/a%2Fb:generate?alt=sse&x=a/b', 'openai', 'v1/models/a%2Fb:generate', 'alt=sse&x=a/b'],
    ['openai/', 'openai', '', ''],
    ['openai', 'openai', '', ''],
    ['openai?x=1/2', 'openai', '', 'x=1/2'],
    ['openai/?', 'openai', '', ''],
    ['/v1/responses', '', 'v1/responses', ''],
    ['', '', '', ''],
    ['openai//v1/../x', 'openai', '/v1/../x', ''],
    ['a/proxy/b/c', 'a', 'proxy/b/c', ''],
    ['open%61i/v1', 'open%61i', 'v1', ''],
    ['openai#x/v1', 'openai#x', 'v1', ''],
  ])('…/proxy/%s → slug "%s", path "%s", query "%s"', (rest, providerSlug, path, query) => {
    expect(findProxyPath(`/v1/apps/otter/proxy/${rest}`)).toEqual({ appId: 'otter', providerSlug, path, query });
  });

  it.each([
    '/v1/apps/otter/me',
    '/v1/apps/otter/proxy',
    '/v1/apps/otter/proxyx/openai/v1',
    '/v1/apps/otter/endpoints/proxy/openai/v1',
    '/v1/apps/proxy/openai',
    '/v1/apps//proxy/openai/v1',
    '/v1/apps/otter?x=/proxy/openai/v1',
    '/v1/apps/otter#/proxy/openai/v1',
    '/v1/admin/apps/otter/proxy/openai',
    '/V1/apps/otter/proxy/openai/v1',
    '/v1/apps/otter/pro%78y/openai/v1',
    '/v1/%61pps/otter/proxy/openai/v1',
    'http://gateway/v1/apps/otter/proxy/openai/v1',
    '/',
    '',
  ])('%s → not read as a proxy URL, however a router treats it', (url) => {
    expect(findProxyPath(url)).toBeUndefined();
  });

  it('a URL that a router sends here anyway → 404 like any unknown route', () => {
    expect(escapedRoute()).toMatchObject({ code: 'invalid_request', status: 404, message: 'Route not found' });
  });
});

describe('findEndpointPath', () => {
  it.each([
    ['/v1/apps/notes-abc123/endpoints/summarize', 'notes-abc123', 'summarize'],
    ['/v1/apps/notes-abc123/endpoints/summarize?stream=1/2', 'notes-abc123', 'summarize'],
    ['/v1/apps/a/endpoints/sum%6Darize', 'a', 'sum%6Darize'],
    ['/v1/apps/a/endpoints/__proto__', 'a', '__proto__'],
  ])('%s → split, nothing decoded', (url, appId, slug) => {
    expect(findEndpointPath(url)).toEqual({ appId, slug });
  });

  it.each([
    '/v1/apps/a/endpoints/',
    '/v1/apps/a/endpoints',
    '/v1/apps/a/endpoints/b/',
    '/v1/apps/a/endpoints/b/c',
    '/v1/apps//endpoints/b',
    '/v1/apps/a/b/endpoints/c',
    '/v1/apps/a/endpoint%73/b',
    '/V1/apps/a/endpoints/b',
    '/v1/apps/a/proxy/endpoints/b',
    'http://host/v1/apps/a/endpoints/b',
  ])('%s → another route', (url) => {
    expect(findEndpointPath(url)).toBeUndefined();
  });
});
