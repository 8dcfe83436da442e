import { describe, expect, it } from '@jest/globals';
import { firstCallSnippets, stepOf, stillThere } from './progress.rules.js';

describe('the guided start', () => {
  it('provider, then application, then call', () => {
    expect([{}, { providerSlug: 'openai' }, { providerSlug: 'openai', appId: 'a' }].map(stepOf)).toEqual([
      ...['provider', 'application', 'call'],
    ]);
  });

  it('what was deleted since → done again', () => {
    const progress = { providerSlug: 'openai', model: 'm', appId: 'a' };
    expect(stillThere(progress, ['openai'], ['a'])).toEqual(progress);
    expect(stillThere(progress, ['openai'], [])).toEqual({ providerSlug: 'openai', model: 'm' });
    expect(stillThere(progress, [], ['a'])).toEqual({});
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
