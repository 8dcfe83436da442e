import { describe, expect, it } from '@jest/globals';
import { findEndpointPath } from './endpoint-path.rules.js';

describe('findEndpointPath', () => {
  it.each([
    ['/v1/apps/notes-abc123/endpoints/summarize', 'notes-abc123', 'summarize'],
    ['/v1/apps/notes-abc123/endpoints/summarize?stream=1/2', 'notes-abc123', 'summarize'],
    ['/v1/apps/a/endpoints/sum%6Darize', 'a', 'sum%6Darize'],
    ['/v1/apps/a/endpoints/__proto__', 'a', '__proto__'],
  ])('%s → taken apart, nothing decoded', (url, appId, slug) => {
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
