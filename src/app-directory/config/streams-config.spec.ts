import { describe, expect, it } from '@jest/globals';
import { rawServerConfig } from '../../../test/support/apps/app-configs.js';
import { toAppSnapshot } from '../app-snapshot.js';
import { parseAppConfig } from './app-config.js';

const ENDPOINT = { api_style: 'responses', provider: 'openai', model: 'gpt-4.1' };
const parsed = (streams: unknown, own?: unknown) =>
  parseAppConfig({
    ...rawServerConfig(),
    ...(streams === undefined ? {} : { streams }),
    endpoints: { own: { ...ENDPOINT, ...(own === undefined ? {} : { streams: own }) }, other: ENDPOINT },
  });

function streamsOf(slug: string | null, ...config: Parameters<typeof parsed>) {
  const stored = { configError: null, config: parsed(...config) };
  const app = toAppSnapshot({ id: 'app', organizationId: 'org', status: 'active' }, stored);
  return app.configError === null ? app.streamsOf(slug) : undefined;
}

describe('streams of an application', () => {
  it.each([
    [{ resume_seconds: 0 }, { resume_seconds: 0, max_bytes: 1_048_576 }],
    [
      { resume_seconds: 600, max_bytes: 4_194_304 },
      { resume_seconds: 600, max_bytes: 4_194_304 },
    ],
    [undefined, undefined],
  ])('%j → %j', (sent, kept) => {
    expect(parsed(sent).streams).toEqual(kept);
  });

  it.each([
    {},
    null,
    { resume_seconds: 601 },
    { resume_seconds: -1 },
    { resume_seconds: 1.5 },
    { resume_seconds: null },
    { resume_seconds: 1, max_bytes: 0 },
    { resume_seconds: 1, max_bytes: 4_194_305 },
    { resume_seconds: 1, more: 1 },
  ])('%j → refused', (sent) => {
    expect(() => parsed(sent)).toThrow(/config\.streams/);
    expect(() => parsed(undefined, sent)).toThrow(/config\.endpoints\.own\.streams/);
  });

  it('settings of an endpoint → replace all of the application’s', () => {
    const [app, own] = [{ resume_seconds: 60, max_bytes: 5 }, { resume_seconds: 9 }];
    expect(streamsOf(null, app, own)).toEqual(app);
    expect(streamsOf('other', app, own)).toEqual(app);
    expect(streamsOf('own', app, own)).toEqual({ resume_seconds: 9, max_bytes: 1_048_576 });
    expect(streamsOf('own', app, { resume_seconds: 0 })).toBeUndefined();
    expect(streamsOf('own', undefined, own)).toMatchObject(own);
    expect(streamsOf(null, undefined, own)).toBeUndefined();
  });
});
