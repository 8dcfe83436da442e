import { describe, expect, it } from '@jest/globals';
import { rawDeviceConfig, rawSelection, rawServerConfig } from '../../../test/support/apps/app-configs.js';
import { parseAppConfig } from './app-config.js';
import { policyFor } from './provider-policy.rules.js';

const openai = { slug: 'openai', type: 'openai' };

describe('policyFor', () => {
  it('mode all → an empty policy for every provider', () => {
    const config = parseAppConfig(rawServerConfig());
    expect(policyFor(config, openai)).toEqual({ allowedPaths: [], allowedModels: new Set() });
  });

  it('selected: paths of both forms, models and ceiling → as configured', () => {
    expect(policyFor(parseAppConfig(rawDeviceConfig()), openai)).toEqual({
      allowedPaths: [{ path: 'v1/responses' }, { path: 'v1/images/{model}', fixedModel: 'gpt-4.1', clamp: 'none' }],
      allowedModels: new Set(['gpt-4.1', 'fast']),
      maxOutputTokens: 4096,
    });
  });

  it('selected: slug before type, type for other instances, else not covered', () => {
    const models = (...allowed_models: string[]) => ({ allowed_paths: [], allowed_models });
    const config = parseAppConfig(rawSelection({ backup: models('a'), openai: models('b') }));
    const modelsFor = (slug: string, type: string) => policyFor(config, { slug, type })?.allowedModels;
    expect(modelsFor('backup', 'openai')).toEqual(new Set(['a']));
    expect(modelsFor('third', 'openai')).toEqual(new Set(['b']));
    expect(modelsFor('groq', 'groq')).toBeUndefined();
  });

  it('selected: names that every object inherits → not covered', () => {
    const config = parseAppConfig(rawSelection({}));
    expect(policyFor(config, { slug: 'constructor', type: 'toString' })).toBeUndefined();
  });

  it('asked twice → the same object, so that compiled results can be cached', () => {
    const config = parseAppConfig(rawDeviceConfig());
    expect(policyFor(config, openai)).toBe(policyFor(config, { slug: 'second', type: 'openai' }));
  });
});
