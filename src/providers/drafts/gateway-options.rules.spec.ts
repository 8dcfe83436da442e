import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../common/log/secret.js';
import { parseGatewayRoute, requireOptionsAllowed, requireOwnCredential } from './gateway-options.rules.js';

const TEXT = 'x'.repeat(100);

describe('parseGatewayRoute', () => {
  it.each([
    {},
    { modelPrefix: '/' },
    { modelPrefix: `${TEXT.slice(1)}/` },
    { providerOnly: ['a'] },
    { providerOnly: Array.from({ length: 20 }, () => TEXT) },
    { modelPrefix: 'own/', providerOnly: ['azure', 'openai'] },
  ])('options: %j → kept exactly', (raw) => {
    expect(parseGatewayRoute(raw)).toEqual(raw);
  });

  it.each<[string, object]>([
    ['modelPrefix: must be text', { modelPrefix: '' }],
    ['modelPrefix: must be text', { modelPrefix: `${TEXT}/` }],
    ['modelPrefix: must be text', { modelPrefix: null }],
    ['modelPrefix: must be text', { modelPrefix: 7 }],
    ['modelPrefix: must be text', { modelPrefix: '\u0000/' }],
    ['modelPrefix: must be text', { modelPrefix: '\ud800/' }],
    ['modelPrefix: must end with', { modelPrefix: 'own' }],
    ['providerOnly: must be a list', { providerOnly: [] }],
    ['providerOnly: must be a list', { providerOnly: 'azure' }],
    ['providerOnly: must be a list', { providerOnly: null }],
    ['providerOnly: must be a list', { providerOnly: Array.from({ length: 21 }, () => 'a') }],
    ['providerOnly.1: must be text', { providerOnly: ['a', ''] }],
    ['providerOnly.0: must be text', { providerOnly: [`${TEXT}x`] }],
    ['providerOnly.0: must be text', { providerOnly: [['a']] }],
    ['order: is not a known member', { order: ['a'] }],
    ['__proto__: is not a known member', JSON.parse('{"__proto__":{"modelPrefix":"x/"}}')],
    ['constructor: is not a known member', { constructor: 1 }],
  ])('options: gatewayRoute.%s', (problem, raw) => {
    expect(() => parseGatewayRoute(raw)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: expect.stringContaining(`gatewayRoute.${problem}`),
      }),
    );
  });
});

describe('requireOptionsAllowed', () => {
  it('options: only on vercel; none are fine everywhere', () => {
    for (const kind of [null, 'cf_aig', 'vercel'] as const) {
      expect(() => requireOptionsAllowed(kind, null)).not.toThrow();
      expect(() => requireOptionsAllowed(kind, undefined)).not.toThrow();
    }
    expect(() => requireOptionsAllowed('vercel', {})).not.toThrow();
    expect(() => requireOptionsAllowed(null, {})).toThrow(/^gatewayRoute: /);
    expect(() => requireOptionsAllowed('cf_aig', {})).toThrow(/^gatewayRoute: /);
  });
});

describe('requireOwnCredential', () => {
  const rowOf = (providerGatewayId: string | null) => ({ providerGatewayId });
  const secret = new Secret('sk');

  it('change: of address or key on a direct row → fine', () => {
    expect(() => requireOwnCredential(rowOf(null), { baseUrl: null, secret })).not.toThrow();
  });

  it('change: of anything else on a routed row → fine', () => {
    expect(() => requireOwnCredential(rowOf('g1'), {})).not.toThrow();
  });

  it('change: of the address on a routed row, back to the type’s own included → path baseUrl, before the key', () => {
    for (const baseUrl of [null, 'https://ai.example.com/']) {
      expect(() => requireOwnCredential(rowOf('g1'), { baseUrl, secret })).toThrow(/^baseUrl: /);
    }
  });

  it('change: of the key on a routed row → provider_gateway_managed', () => {
    expect(() => requireOwnCredential(rowOf('g1'), { secret })).toThrow(
      expect.objectContaining({ code: 'provider_gateway_managed', status: 409 }),
    );
  });
});
