import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Secret } from '../../common/log/secret.js';
import { parseTrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import { PROVIDER_TYPES } from '../../upstreams/provider-types.js';
import { readProviderChange, readTarget, SLUG_PATTERN, slugFor } from './provider-write.rules.js';

const NOBODY = parseTrustedHosts('');
const LOCAL = parseTrustedHosts('127.0.0.1:9000, [::1]:9000');

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
  it('target: key alone → the address of the type', () => {
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
  it('slug: none asked for → the type', () => {
    expect(slugFor('gemini', undefined)).toBe('gemini');
  });

  it('slug: the own type by name → allowed', () => {
    expect(slugFor('gemini', 'gemini')).toBe('gemini');
  });

  it.each(['constructor', 'prototype', ...PROVIDER_TYPES.filter((type) => type !== 'gemini')])(
    'slug: %s for a gemini instance → reserved',
    (slug) => {
      expect(refusalOf(() => slugFor('gemini', slug)).message).toMatch(/^slug: .*reserved/);
    },
  );
});

describe('SLUG_PATTERN', () => {
  it.each(['a', '0', 'a-', 'openai-2', 'a'.repeat(63)])('form: %s → a slug', (slug) => {
    expect(slug).toMatch(SLUG_PATTERN);
  });

  it.each(['', '-a', 'A', 'a_b', 'a.b', 'a/b', '__proto__', 'a'.repeat(64), 'a\n'])('form: %j → none', (slug) => {
    expect(slug).not.toMatch(SLUG_PATTERN);
  });
});

describe('readProviderChange', () => {
  it('change: only what was sent is in it', () => {
    expect(readProviderChange({ status: 'disabled' }, NOBODY)).toEqual({ status: 'disabled' });
    expect(readProviderChange({ baseUrl: null, pricing: null }, NOBODY)).toEqual({ baseUrl: null, pricing: null });
    expect(readProviderChange({ gatewayRoute: null }, NOBODY)).toEqual({ gatewayRoute: null });
  });

  it('change: everything → every member read', () => {
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

  it('change: an address without the key for it → path secret, whatever else is changed', () => {
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

  it('change: a broken price → the path of the price', () => {
    const raw = { pricing: { m: { input: -1, output: 2 } } };
    expect(refusalOf(() => readProviderChange(raw, NOBODY)).message).toMatch(/^pricing\.m\.input: /);
  });
});
