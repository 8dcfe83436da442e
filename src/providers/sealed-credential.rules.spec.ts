import { describe, expect, it } from '@jest/globals';
import { providerSecretContext } from './sealed-credential.rules.js';

describe('providerSecretContext', () => {
  it('context: names account, row, type and address; the default address of the type is the empty text', () => {
    const place = { organizationId: 'o', id: 'p', type: 'openai' as const, baseUrl: null };
    expect(providerSecretContext(place)).toEqual({ account: 'o', provider: 'p', type: 'openai', baseUrl: '' });
    expect(providerSecretContext({ ...place, baseUrl: 'https://a.b/' }).baseUrl).toBe('https://a.b/');
  });
});
