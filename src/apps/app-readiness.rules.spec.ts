import { describe, expect, it } from '@jest/globals';
import { rawSelection, rawServerConfig } from '../../test/support/app-configs.js';
import { parseAppConfig } from '../app-directory/config/app-config.rules.js';
import type { KnownProvider } from '../app-directory/config/app-references.rules.js';
import { CHECK_LIMITATIONS, isReady, reachedProviders } from './app-readiness.rules.js';

const provider = (slug: string, type: KnownProvider['type'], status: KnownProvider['status'] = 'active') =>
  ({ id: slug, slug, type, status, apiStyles: [], endpointStyles: [] }) satisfies KnownProvider;

const ACCOUNT = [provider('openai', 'openai'), provider('backup', 'openai', 'disabled'), provider('groq', 'groq')];
const policy = { allowed_paths: [], allowed_models: [] };

describe('reachedProviders', () => {
  const slugsOf = (raw: unknown) => reachedProviders(parseAppConfig(raw), ACCOUNT).map(({ slug }) => slug);

  it('mode all → every provider of the account, disabled ones included', () => {
    expect(slugsOf(rawServerConfig())).toEqual(['openai', 'backup', 'groq']);
  });

  it('selected by slug → that one; by type → every instance of it', () => {
    expect(slugsOf(rawSelection({ backup: policy }))).toEqual(['backup']);
    expect(slugsOf(rawSelection({ openai: policy }))).toEqual(['openai', 'backup']);
  });

  it('selected provider that is gone, or none selected → none', () => {
    expect(slugsOf(rawSelection({ anthropic: policy }))).toEqual([]);
    expect(slugsOf(rawSelection({}))).toEqual([]);
  });
});

describe('isReady', () => {
  it.each([
    ['active', ['disabled', 'active'], true],
    ['active', ['disabled'], false],
    ['active', [], false],
    ['disabled', ['active'], false],
  ] as const)('application %s with providers %j → %s', (status, providers, expected) => {
    expect(
      isReady(
        status,
        providers.map((one) => ({ status: one })),
      ),
    ).toBe(expected);
  });

  it('limitations → two sentences', () => {
    expect(CHECK_LIMITATIONS).toHaveLength(2);
  });
});
