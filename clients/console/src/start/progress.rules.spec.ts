import { describe, expect, it } from '@jest/globals';
import { firstCallSnippets, freeSlug, isUnderWay, stepOf, stillThere } from './progress.rules.js';

describe('the guided start', () => {
  it('provider, then application, then call', () => {
    expect([{}, { providerSlug: 'openai' }, { providerSlug: 'openai', appId: 'a' }].map(stepOf)).toEqual([
      ...['provider', 'application', 'call'],
    ]);
  });

  it('a step whose result was deleted → open again', () => {
    const progress = { providerSlug: 'openai', model: 'm', appId: 'a', afterId: 7 };
    expect(stillThere(progress, ['openai'], ['a'])).toEqual(progress);
    expect(stillThere(progress, ['openai'], [])).toEqual({ providerSlug: 'openai', model: 'm' });
    expect(stillThere(progress, [], ['a'])).toEqual({});
  });

  it('under way → from the first step to the first call that succeeded', () => {
    expect(isUnderWay({})).toBe(false);
    expect(isUnderWay({ providerSlug: 'openai', appId: 'a' })).toBe(true);
    expect(isUnderWay({ providerSlug: 'openai', appId: 'a', isFinished: true })).toBe(false);
  });

  it('a second provider of a type → an unused slug', () => {
    expect([
      freeSlug('openai', []),
      freeSlug('openai', ['openai']),
      freeSlug('openai', ['openai', 'openai-2']),
    ]).toEqual([...['openai', 'openai-2', 'openai-3']]);
  });

  it('every language has the real values', () => {
    const call = { origin: 'http://localhost:8080', app: 'my-app', slug: 'openai', model: 'gpt', key: 'gw_key' };
    const snippets = firstCallSnippets(call);
    expect(snippets.map(({ label }) => label)).toEqual(['curl', 'Node', 'Python', 'Swift']);
    for (const { code } of snippets) {
      expect(code).toContain('http://localhost:8080/v1/apps/my-app/proxy/openai/v1');
      expect(code).toContain('gw_key');
    }
  });
});
