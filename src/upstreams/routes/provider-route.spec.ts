import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../common/log/secret.js';
import { API_STYLES } from '../api-style.rules.js';
import { dialectOf } from '../provider-dialect.js';
import { PROVIDER_TYPES } from '../provider-types.js';
import { directRoute } from './provider-route.js';

describe('directRoute', () => {
  it.each([
    ['openai', [['authorization', 'Bearer k']]],
    ['anthropic', [['x-api-key', 'k']]],
    ['gemini', [['x-goog-api-key', 'k']]],
    [
      'openrouter',
      [
        ['authorization', 'Bearer k'],
        ['x-openrouter-metadata', 'enabled'],
      ],
    ],
  ] as const)('credential: %s → its own headers', (type, headers) => {
    expect(directRoute(type, null).credentialHeaders(new Secret('k'))).toEqual(headers);
  });

  it.each(PROVIDER_TYPES)('%s → everything as in its type, with nothing added', (type) => {
    const dialect = dialectOf(type);
    const route = directRoute(type, null);
    expect(route).toMatchObject({
      kind: 'direct',
      baseUrl: dialect.baseUrl,
      apiStyles: dialect.apiStyles,
      endpointPaths: dialect.endpointStyles,
      probe: dialect.probe,
      modelPrefix: null,
      paths: 'provider',
      providerOnly: null,
      credentialSource: 'direct',
    });
    expect(route.upstreamPath('v1/a')).toBe('v1/a');
    expect(route.callerHeaders({ appId: 'a', userId: 'u' })).toEqual([]);
    expect(route.passedHeaders.size).toBe(0);
    for (const style of API_STYLES) expect(route.reportsCost(style)).toBe(dialect.reportsCost(style));
  });

  it('address of the instance → replaces the type’s own', () => {
    expect(directRoute('openai', 'https://ai.example.com/v1/').baseUrl).toBe('https://ai.example.com/v1/');
  });
});
