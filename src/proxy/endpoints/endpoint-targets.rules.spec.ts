import { describe, expect, it } from '@jest/globals';
import { aProvider } from '../../../test/support/providers/provider-instances.js';
import type { EndpointTarget, NamedEndpoint } from '../../app-directory/config/endpoints-config.js';
import { compilePrice } from '../../pricing/model-price.js';
import type { PriceBook } from '../../pricing/price-book.js';
import { type ProviderInstance, ProviderSet } from '../../providers/provider-instance.js';
import type { EndpointStyle } from '../../upstreams/api-style.rules.js';
import { gatewayRoute } from '../../upstreams/routes/gateway-route.js';
import { targetsOf } from './endpoint-targets.rules.js';

const price = compilePrice({ input: 2, output: 8 });
const prices: Pick<PriceBook, 'find'> = {
  find: (_type, model, custom) => custom?.get(model) ?? (model.startsWith('priced') ? price : undefined),
};
const bases = { cf_aig: 'https://cf.example.com/v1/', vercel: 'https://vercel.example.com/' };

const openai = aProvider({ slug: 'openai' });
const second = aProvider({ slug: 'second' });
const paused = aProvider({ slug: 'paused', status: 'disabled' });
const xai = aProvider({ slug: 'xai', type: 'xai' });
const routed = aProvider({ slug: 'routed' }, gatewayRoute('openai', { type: 'vercel' }, null, bases));
const gemini = aProvider({ slug: 'gemini', type: 'gemini' });
const account = [openai, second, paused, xai, routed, gemini];

function targets(api_style: EndpointStyle, primary: EndpointTarget, fallback: readonly EndpointTarget[] = []) {
  const endpoint: NamedEndpoint =
    api_style === 'responses' ? { api_style, ...primary, params: {}, fallback } : { api_style, ...primary, fallback };
  return targetsOf(endpoint, new ProviderSet(account), prices);
}

const to = (provider: ProviderInstance | string, model = 'priced-1'): EndpointTarget => ({
  provider: typeof provider === 'string' ? provider : provider.slug,
  model,
});

describe('targets of an endpoint', () => {
  it.each([
    ['responses', openai, 'v1/responses', 'responses'],
    ['responses', xai, 'v1/responses', 'responses'],
    ['transcription', openai, 'v1/audio/transcriptions', 'audio_transcription'],
    ['transcription', xai, 'v1/stt', 'audio_transcription'],
  ] as const)('%s on $type → its own path', (style, provider, path, apiStyle) => {
    expect(targets(style, to(provider)).primary).toMatchObject({ provider, path, style: apiStyle });
  });

  it.each([
    ['deleted', 'responses', to('gone'), 'provider_not_configured', 502],
    ['paused', 'responses', to(paused), 'provider_disabled', 502],
    ['of another family', 'responses', to(gemini), 'provider_unavailable', 502],
    ['behind a gateway that serves no transcription', 'transcription', to(routed), 'provider_unavailable', 502],
    ['without a price', 'responses', to(openai, 'unknown'), 'pricing_not_configured', 400],
  ] as const)('primary %s → refused', (_name, style, primary, code, status) => {
    expect(() => targets(style, primary, [to(second)])).toThrow(expect.objectContaining({ code, status }));
  });

  it('fallback of an unsupported kind → skipped, the others in order', () => {
    const fallback = [to('gone'), to(second), to(paused), to(gemini), to(openai, 'unknown'), to(xai)];
    expect(targets('responses', to(openai), fallback).fallbacks.map(({ provider }) => provider)).toEqual([second, xai]);
  });

  it('fallback through a gateway → serves responses and is skipped for transcriptions', () => {
    const [through] = targets('responses', to(openai), [to(routed)]).fallbacks;
    expect(through?.model).toMatchObject({ canonical: 'priced-1', wire: 'openai/priced-1' });
    expect(targets('transcription', to(openai), [to(routed)]).fallbacks).toEqual([]);
  });

  it('model whose cost the provider reports → needs no price', () => {
    expect(targets('responses', to(xai, 'unknown')).primary.model.price).toBeUndefined();
    expect(() => targets('transcription', to(xai, 'unknown'))).toThrow('has no price');
  });

  it('price of the instance → overrides the catalog’s', () => {
    const own = aProvider({ slug: 'own', pricing: { special: { input: 1, output: 1 } } });
    const endpoint: NamedEndpoint = { api_style: 'responses', ...to(own, 'special'), params: {}, fallback: [] };
    expect(targetsOf(endpoint, new ProviderSet([own]), prices).primary.model.price).toBe(
      own.customPrices.get('special'),
    );
  });

  it('same provider and model again → not attempted twice; another model or another slug is a separate attempt', () => {
    const fallback = [to(openai), to(openai, 'priced-2'), to(second), to(openai, 'priced-2'), to(second)];
    const left = targets('responses', to(openai), fallback).fallbacks;
    expect(left.map(({ provider, model }) => [provider.slug, model.canonical])).toEqual([
      ['openai', 'priced-2'],
      ['second', 'priced-1'],
    ]);
  });
});
