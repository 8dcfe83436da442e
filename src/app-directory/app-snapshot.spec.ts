import { describe, expect, it } from '@jest/globals';
import { rawDeviceConfig, rawSelection, rawServerConfig } from '../../test/support/apps/app-configs.js';
import { matchPath } from '../upstreams/path-policy.rules.js';
import { type ReadableApp, requireReadable, toAppSnapshot } from './app-snapshot.js';
import { parseAppConfig } from './config/app-config.js';

const row = { id: 'notes-abc123', organizationId: 'account-1', status: 'active' } as const;
const openai = { slug: 'openai', type: 'openai' } as const;

function snapshotOf(raw: unknown): ReadableApp {
  return requireReadable(toAppSnapshot(row, { config: parseAppConfig(raw), configError: null }));
}

function serverWith(end_user: unknown) {
  return { ...rawServerConfig(), authentication: { type: 'api_key', end_user } };
}

describe('toAppSnapshot', () => {
  it('row and configuration → deeply frozen', () => {
    const app = snapshotOf(rawDeviceConfig());
    expect(app).toMatchObject({ ...row, configError: null });
    const endpoint = app.config.endpoints.summarize;
    expect([app, app.config, app.config.limits.per_app.requests, endpoint].every(Object.isFrozen)).toBe(true);
    expect(endpoint?.api_style === 'responses' && Object.isFrozen(endpoint.params.text)).toBe(true);
  });

  it('configuration that no longer parses → snapshot that says why and cannot be used', () => {
    const app = toAppSnapshot(row, { config: undefined, configError: 'config.routing: is required' });
    expect(app).toEqual({ ...row, configError: 'config.routing: is required' });
    expect(() => requireReadable(app)).toThrow(
      expect.objectContaining({ code: 'internal_error', reason: 'app_config_unreadable' }),
    );
  });

  it.each([
    ['no identity', rawServerConfig(), { userSource: 'none', userHeader: undefined, tokenHeader: undefined }],
    [
      'header',
      serverWith({ source: 'header', header: 'X-Person' }),
      { userSource: 'header', userHeader: 'x-person', tokenHeader: undefined },
    ],
    ['issuer', rawDeviceConfig(), { userSource: 'issuer', userHeader: undefined, tokenHeader: 'x-gateway-token' }],
  ])('user: %s → where the id comes from', (_name, raw, expected) => {
    expect(snapshotOf(raw)).toMatchObject(expected);
  });

  it('model rewrites: names that every object inherits → not replaced', () => {
    const { modelRewrites } = snapshotOf(rawDeviceConfig());
    expect(modelRewrites.get('fast')).toBe('gpt-4.1-mini');
    expect(modelRewrites.get('toString')).toBeUndefined();
  });
});

describe('ReadableApp.accessTo', () => {
  it('asked again → the same compiled object', () => {
    const app = snapshotOf(rawDeviceConfig());
    expect(app.accessTo(openai)).toBe(app.accessTo({ ...openai }));
  });

  it('selected with paths → exactly those, with their models and ceiling', () => {
    const access = snapshotOf(rawDeviceConfig()).accessTo(openai);
    expect(access && matchPath(access.paths, 'v1/images/dall-e')).toMatchObject({ model: 'dall-e' });
    expect(access && matchPath(access.paths, 'v1/chat/completions')).toBeUndefined();
    expect(access?.allowedModels).toEqual(new Set(['gpt-4.1', 'fast']));
    expect(access?.maxOutputTokens).toBe(4096);
  });

  it('no paths named → the inference paths of the type, never its control plane', () => {
    const access = snapshotOf(rawServerConfig()).accessTo(openai);
    expect(access && matchPath(access.paths, 'v1/responses')).toBeDefined();
    expect(access && matchPath(access.paths, 'v1/files')).toBeUndefined();
    expect(access).toMatchObject({ allowedModels: new Set(), maxOutputTokens: undefined });
  });

  it('not selected → undefined, also when asked again', () => {
    const app = snapshotOf(rawSelection({}));
    expect(app.accessTo(openai)).toBeUndefined();
    expect(app.accessTo(openai)).toBeUndefined();
  });

  it('slug whose provider was replaced by one of another type → its access is computed again', () => {
    const app = snapshotOf(rawServerConfig());
    const before = app.accessTo({ slug: 'main', type: 'openai' });
    const after = app.accessTo({ slug: 'main', type: 'gemini' });
    expect(after?.paths).not.toBe(before?.paths);
  });
});
