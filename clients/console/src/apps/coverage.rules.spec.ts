import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { policyFor } from '../../../../src/app-directory/config/provider-policy.rules.js';
import { coverageOf, coverageText } from './coverage.rules';

const provider = (slug: string, type: string, name = slug) => ({ slug, type: type as never, name });
const TYPES = ['openai', 'anthropic'];
const ALL = [provider('openai', 'openai', 'OpenAI'), provider('backup', 'openai'), provider('claude', 'anthropic')];

describe('coverageOf', () => {
  it('any providers, any keys → the instances to which the gateway applies the key', () => {
    const type = fc.constantFrom(...TYPES);
    const slug = fc.constantFrom('openai', 'anthropic', 'a', 'b', 'c');
    const providers = fc
      .uniqueArray(fc.record({ slug, type }), { selector: (one) => one.slug })
      // The service reserves the name of a type for providers of it.
      .map((some) => some.filter((one) => !TYPES.includes(one.slug) || one.slug === one.type));
    fc.assert(
      fc.property(providers, fc.uniqueArray(slug), (all, keys) => {
        const selected = Object.fromEntries(keys.map((key) => [key, { allowed_paths: [], allowed_models: [key] }]));
        const config = { routing: { providers: { mode: 'selected', selected }, model_rewrites: {} } };
        const applied = (key: string) =>
          all.filter((one) => policyFor(config as never, one)?.allowedModels.has(key) === true);
        for (const key of keys) expect(coverageOf(key, keys, all, TYPES).providers).toEqual(applied(key));
      }),
    );
  });
});

describe('coverageText', () => {
  const text = (key: string, keys = [key]) => coverageText(key, coverageOf(key, keys, ALL, TYPES));

  it('a type → every instance of it, including later ones', () => {
    expect(text('openai')).toBe(
      'Covers OpenAI (openai) and backup, and every provider of the type openai that is added later without its own entry.',
    );
  });

  it('a type besides an entry for one of its instances → all but that one', () => {
    expect(text('openai', ['openai', 'backup'])).not.toContain('backup');
  });

  it('a slug → only that one', () => {
    expect(text('backup')).toBe('Covers backup.');
  });

  it('a type without an instance → not reported as deleted', () => {
    expect(coverageText('anthropic', coverageOf('anthropic', [], [], TYPES))).toBe(
      'Covers no provider now; it will cover every provider of the type anthropic that is added later.',
    );
  });

  it('a deleted slug → reported', () => {
    expect(text('gone')).toBe('Covers nothing: its provider is deleted.');
  });
});
