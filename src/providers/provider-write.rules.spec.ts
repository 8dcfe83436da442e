import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Secret } from '../common/log/secret.js';
import { OwnAddresses } from '../platform/outbound/own-addresses.js';
import { parseTrustedHosts } from '../platform/outbound/trusted-hosts.rules.js';
import { PROVIDER_SLUG, PROVIDER_TYPES } from '../upstreams/provider-types.js';
import {
  parseGatewayRoute,
  readProviderChange,
  readTarget,
  requireOptionsAllowed,
  requireOwnCredential,
  slugFor,
} from './provider-write.rules.js';

const own = new OwnAddresses('https://gateway.example.com');
const NOBODY = { trusted: parseTrustedHosts(''), own };
const LOCAL = { trusted: parseTrustedHosts('127.0.0.1:9000, [::1]:9000'), own };

/** The code and message of the thrown error. */
function refusalOf(attempt: () => unknown): { code: string; message: string } {
  try {
    attempt();
  } catch (error) {
    if (error instanceof GatewayError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('was not refused');
}

describe('readTarget', () => {
  it('target: only a key → the address of the type', () => {
    const target = readTarget({ type: 'openai', secret: 'sk-11111' }, NOBODY);
    expect(target).toEqual({ type: 'openai', providerGatewayId: null, baseUrl: null, secret: expect.any(Secret) });
    expect(target.providerGatewayId === null && target.secret.reveal()).toBe('sk-11111');
  });

  it('target: key and address → the canonical address', () => {
    const raw = { type: 'openai', secret: 'sk-11111', baseUrl: 'https://AI.Example.com/v' } as const;
    expect(readTarget(raw, NOBODY)).toMatchObject({ baseUrl: 'https://ai.example.com/v/' });
  });

  it.each([{}, { secret: 'sk-00000', providerGatewayId: 'g' }])(
    'target: %j, not exactly one credential → path secret',
    (raw) => {
      expect(refusalOf(() => readTarget({ type: 'openai', ...raw }, NOBODY))).toEqual({
        code: 'invalid_request',
        message: 'secret: give exactly one of secret and providerGatewayId',
      });
    },
  );

  it('target: gateway and address → path baseUrl', () => {
    const raw = { type: 'openai', providerGatewayId: 'g', baseUrl: 'https://ai.example.com/' } as const;
    expect(refusalOf(() => readTarget(raw, NOBODY)).message).toMatch(/^baseUrl: /);
  });

  it('target: gateway → its id and no key', () => {
    const target = readTarget({ type: 'openai', providerGatewayId: 'g' }, NOBODY);
    expect(target).toEqual({ type: 'openai', providerGatewayId: 'g' });
  });

  it('target: an address of the gateway itself → path baseUrl, even in a change and on a trusted host', () => {
    const listening = new OwnAddresses(undefined);
    listening.listensAt({ address: '127.0.0.1', port: 9000, family: 'IPv4' });
    for (const [baseUrl, hosts] of [
      ['https://Gateway.Example.com/v1/apps/a/proxy/p/', NOBODY],
      ['http://127.0.0.1:9000/', { ...LOCAL, own: listening }],
    ] as const) {
      const raw = { secret: 'sk-00000', baseUrl };
      const message = 'baseUrl: is an address of this gateway; give the address of the provider';
      expect(refusalOf(() => readTarget({ type: 'openai', ...raw }, hosts)).message).toBe(message);
      expect(refusalOf(() => readProviderChange(raw, hosts)).message).toBe(message);
    }
  });

  it.each(['http://127.0.0.1:9000/', 'http://[::1]:9000/'])(
    'target: private %s → only for a trusted host and port',
    (baseUrl) => {
      const raw = { type: 'openai', secret: 'sk-00000', baseUrl } as const;
      expect(readTarget(raw, LOCAL)).toMatchObject({ baseUrl });
      expect(refusalOf(() => readTarget(raw, NOBODY)).message).toMatch(/^baseUrl: /);
      const otherPort = { ...raw, baseUrl: baseUrl.replace('9000', '9001') };
      expect(refusalOf(() => readTarget(otherPort, LOCAL)).message).toMatch(/^baseUrl: /);
    },
  );
});

describe('slugFor', () => {
  it('slug: none given → the type', () => {
    expect(slugFor('gemini', undefined)).toBe('gemini');
  });

  it('slug: the name of its own type → allowed', () => {
    expect(slugFor('gemini', 'gemini')).toBe('gemini');
  });

  it.each(['constructor', 'prototype', ...PROVIDER_TYPES.filter((type) => type !== 'gemini')])(
    'slug: %s for a gemini instance → reserved',
    (slug) => {
      expect(refusalOf(() => slugFor('gemini', slug)).message).toMatch(/^slug: .*reserved/);
    },
  );
});

describe('PROVIDER_SLUG', () => {
  it.each(['a', '0', 'a-', 'openai-2', 'a'.repeat(63)])('form: %s → a slug', (slug) => {
    expect(slug).toMatch(PROVIDER_SLUG);
  });

  it.each(['', '-a', 'A', 'a_b', 'a.b', 'a/b', '__proto__', 'a'.repeat(64), 'a\n'])('form: %j → not a slug', (slug) => {
    expect(slug).not.toMatch(PROVIDER_SLUG);
  });
});

describe('readProviderChange', () => {
  it('change: only the members that were sent', () => {
    expect(readProviderChange({ status: 'disabled' }, NOBODY)).toEqual({ status: 'disabled' });
    expect(readProviderChange({ baseUrl: null, pricing: null }, NOBODY)).toEqual({ baseUrl: null, pricing: null });
    expect(readProviderChange({ gatewayRoute: null }, NOBODY)).toEqual({ gatewayRoute: null });
  });

  it('change: every member → all are read', () => {
    const change = readProviderChange(
      {
        name: 'Second',
        secret: 'sk-22222',
        gatewayRoute: { modelPrefix: 'own/' },
        baseUrl: 'https://AI.example.com',
        pricing: { m: { input: 1, output: 2 } },
        status: 'active',
      },
      NOBODY,
    );
    expect(change.secret?.reveal()).toBe('sk-22222');
    expect(change).toMatchObject({
      name: 'Second',
      gatewayRoute: { modelPrefix: 'own/' },
      baseUrl: 'https://ai.example.com/',
      pricing: { m: { input: 1, output: 2 } },
      status: 'active',
    });
  });

  it('change: nothing → refused at the root', () => {
    expect(refusalOf(() => readProviderChange({}, NOBODY)).message).toBe('body: must change at least one member');
  });

  it('change: an address without the key for it → path secret, whatever else changes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('https://ai.example.com/', 'https://api.openai.com/', ''),
        fc.record({ name: fc.constant('n'), status: fc.constant('active' as const) }, { requiredKeys: [] }),
        (baseUrl, others) => {
          expect(refusalOf(() => readProviderChange({ ...others, baseUrl }, NOBODY)).message).toMatch(/^secret: /);
        },
      ),
    );
  });

  it('change: an invalid price → the path of the price', () => {
    const raw = { pricing: { m: { input: -1, output: 2 } } };
    expect(refusalOf(() => readProviderChange(raw, NOBODY)).message).toMatch(/^pricing\.m\.input: /);
  });
});

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
  it('options: only on vercel; none → accepted everywhere', () => {
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

  it('change: of address or key on a direct row → accepted', () => {
    expect(() => requireOwnCredential(rowOf(null), { baseUrl: null, secret })).not.toThrow();
  });

  it('change: of anything else on a routed row → accepted', () => {
    expect(() => requireOwnCredential(rowOf('g1'), {})).not.toThrow();
  });

  it('change: of the address on a routed row, even back to the type’s own → path baseUrl, before the key', () => {
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
