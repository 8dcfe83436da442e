import { describe, expect, it } from '@jest/globals';
import { rawSelection, rawServerConfig } from '../../test/support/apps/app-configs.js';
import { parseAppConfig } from '../app-directory/config/app-config.js';
import type { KnownProvider } from '../app-directory/config/app-references.rules.js';
import { CHECK_LIMITATIONS, endpointReadiness, isReady, reachedProviders } from './app-readiness.rules.js';

const provider = (slug: string, type: KnownProvider['type'], status: KnownProvider['status'] = 'active') =>
  ({ id: slug, slug, type, status, apiStyles: [], endpointStyles: [] }) satisfies KnownProvider;

const ACCOUNT = [provider('openai', 'openai'), provider('backup', 'openai', 'disabled'), provider('groq', 'groq')];
const policy = { allowed_paths: [], allowed_models: [] };
/** Routing covers no provider; one endpoint targets the first of these and falls back to the others. */
const withEndpoint = (target: string, ...fallbacks: string[]) => ({
  ...rawSelection({}),
  endpoints: {
    say: {
      api_style: 'responses',
      provider: target,
      model: 'm',
      fallback: fallbacks.map((one) => ({ provider: one, model: 'm' })),
    },
  },
});

describe('reachedProviders', () => {
  const slugsOf = (raw: unknown) => reachedProviders(parseAppConfig(raw), ACCOUNT).map(({ slug }) => slug);

  it('mode all → every provider of the account, disabled ones included', () => {
    expect(slugsOf(rawServerConfig())).toEqual(['openai', 'backup', 'groq']);
  });

  it('selected by slug → only that one; by type → every instance of it', () => {
    expect(slugsOf(rawSelection({ backup: policy }))).toEqual(['backup']);
    expect(slugsOf(rawSelection({ openai: policy }))).toEqual(['openai', 'backup']);
  });

  it('selected provider was deleted, or none is selected → none', () => {
    expect(slugsOf(rawSelection({ anthropic: policy }))).toEqual([]);
    expect(slugsOf(rawSelection({}))).toEqual([]);
  });

  it('named by an endpoint, even as a fallback → listed, disabled ones included, each once', () => {
    expect(slugsOf(withEndpoint('groq', 'backup'))).toEqual(['backup', 'groq']);
    expect(slugsOf({ ...withEndpoint('groq'), ...rawSelection({ groq: policy }) })).toEqual(['groq']);
  });

  it('named by an endpoint → only that instance, not every instance of a type with that name', () => {
    expect(slugsOf(withEndpoint('openai'))).toEqual(['openai']);
  });
});

describe('endpointReadiness', () => {
  it.each([
    ['an active provider', ['groq', 'backup'], null],
    ['a disabled provider, whatever its fallbacks', ['backup', 'groq'], 'provider_disabled'],
    ['a provider that is gone', ['anthropic', 'groq'], 'provider_not_configured'],
  ])('an endpoint whose target is %s → %3$s', (_which, [target = '', ...fallbacks], problem) => {
    const config = parseAppConfig(withEndpoint(target, ...fallbacks));
    expect(endpointReadiness(config, ACCOUNT)).toEqual([{ slug: 'say', problem }]);
  });
});

describe('isReady', () => {
  it.each<[string, object, boolean]>([
    ['routing covers an active provider', rawSelection({ groq: policy }), true],
    ['routing covers a disabled provider', rawSelection({ backup: policy }), false],
    ['routing covers none', rawSelection({}), false],
    ['only an endpoint has an active provider', withEndpoint('groq'), true],
    ['only an endpoint, and its provider is disabled', withEndpoint('backup', 'groq'), false],
    ['only an endpoint, and its provider is gone', withEndpoint('anthropic', 'groq'), false],
    ['routing serves, an endpoint does not', { ...withEndpoint('backup'), ...rawServerConfig() }, true],
  ])('%s → %3$s, never for a disabled application', (_what, raw, expected) => {
    const config = parseAppConfig(raw);
    expect(isReady('active', config, ACCOUNT)).toBe(expected);
    expect(isReady('disabled', config, ACCOUNT)).toBe(false);
  });

  it('limitations → two sentences', () => {
    expect(CHECK_LIMITATIONS).toHaveLength(2);
  });
});
