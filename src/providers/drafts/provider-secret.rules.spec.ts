import { describe, expect, it } from '@jest/globals';
import { secretContext } from './provider-secret.rules.js';

describe('secretContext', () => {
  it('context: names account, row, type and address; the own address of the type is the empty text', () => {
    const place = { organizationId: 'o', id: 'p', type: 'openai' as const, baseUrl: null };
    expect(secretContext(place)).toEqual({ account: 'o', provider: 'p', type: 'openai', baseUrl: '' });
    expect(secretContext({ ...place, baseUrl: 'https://a.b/' }).baseUrl).toBe('https://a.b/');
  });
});
