import { describe, expect, it } from '@jest/globals';
import { rawDeviceConfig, rawServerConfig } from '../../../test/support/apps/app-configs.js';
import { parseAppConfig } from './app-config.js';
import { resolveApp } from './resolved-app.rules.js';

const resolve = (raw: unknown) =>
  resolveApp({ id: 'example-k7m2qz', name: 'Example', status: 'active', config: parseAppConfig(raw) });

describe('resolveApp', () => {
  it('limits: dollars → whole microdollars, absent → null', () => {
    expect(resolve(rawDeviceConfig()).limits).toEqual({
      perUser: { requestsPerMinute: 10, requestsPerDay: 300, monthlyBudgetMicrousd: 500_000 },
      perApp: { requestsPerMinute: null, requestsPerDay: 90_000, monthlyBudgetMicrousd: 250_000_000 },
    });
  });

  it('limits: a budget of zero → zero, not unlimited', () => {
    const raw = { ...rawServerConfig(), limits: { per_app: { spending: { monthly_usd: 0 } } } };
    expect(resolve(raw).limits.perApp.monthlyBudgetMicrousd).toBe(0);
  });

  it('routing: selected providers → their policies and the rewrites', () => {
    expect(resolve(rawDeviceConfig()).routing).toEqual({
      providerMode: 'selected',
      providers: {
        openai: {
          allowedPaths: [{ path: 'v1/responses' }, { path: 'v1/images/{model}', fixedModel: 'gpt-4.1', clamp: 'none' }],
          allowedModels: ['gpt-4.1', 'fast'],
          maxOutputTokens: 4096,
        },
      },
      modelRewrites: { fast: 'gpt-4.1-mini' },
    });
  });

  it('mode all → no provider is listed', () => {
    expect(resolve(rawServerConfig()).routing).toEqual({ providerMode: 'all', providers: {}, modelRewrites: {} });
  });

  it('the rest → identity, status, authentication and endpoints as configured', () => {
    const config = parseAppConfig(rawDeviceConfig());
    const resolved = resolveApp({ id: 'a', name: 'A', status: 'disabled', config });
    expect(resolved).toMatchObject({ id: 'a', name: 'A', status: 'disabled' });
    expect(resolved.authentication).toBe(config.authentication);
    expect(resolved.endpoints).toBe(config.endpoints);
    expect(resolved.allowedOrigins).toEqual(['https://app.example.com', 'capacitor://localhost']);
    expect(resolve(rawServerConfig()).allowedOrigins).toEqual([]);
  });
});
