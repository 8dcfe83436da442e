import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Secret } from '../../common/log/secret.js';
import { API_STYLES } from '../api-style.rules.js';
import { dialectOf } from '../provider-dialect.js';
import { PROVIDER_TYPES, type ProviderType } from '../provider-types.js';
import { gatewayRoute, servesType } from './gateway-route.js';
import type { GatewayBaseUrls, GatewayPlace, GatewayRouteOptions, GatewayType } from './gateway-types.js';

const BASE_URLS: GatewayBaseUrls = {
  cf_aig: 'https://gateway.ai.cloudflare.com/v1/',
  vercel: 'https://ai-gateway.vercel.sh/',
};
const CF: GatewayPlace = { type: 'cf_aig', accountId: 'acc', gatewayId: 'main' };
const VERCEL: GatewayPlace = { type: 'vercel' };

const cfAig = (type: ProviderType, place: GatewayPlace = CF) => gatewayRoute(type, place, null, BASE_URLS);
const vercel = (type: ProviderType, options: GatewayRouteOptions | null = null) =>
  gatewayRoute(type, VERCEL, options, BASE_URLS);

/** Converts a header list to an object. */
const named = (flat: readonly string[]) =>
  Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]]] : [])));

const SERVED: Readonly<Record<GatewayType, readonly ProviderType[]>> = {
  cf_aig: ['openai', 'anthropic', 'xai', 'gemini', 'perplexity'],
  vercel: ['openai', 'anthropic', 'xai', 'gemini', 'perplexity', 'deepseek', 'moonshot'],
};

describe('servesType', () => {
  it.each(['cf_aig', 'vercel'] as const)('%s → exactly the types it serves; others get no route', (kind) => {
    expect(PROVIDER_TYPES.filter((type) => servesType(kind, type))).toEqual(SERVED[kind]);
    const place = kind === 'cf_aig' ? CF : VERCEL;
    for (const type of PROVIDER_TYPES.filter((one) => !SERVED[kind].includes(one))) {
      expect(() => gatewayRoute(type, place, null, BASE_URLS)).toThrow(TypeError);
    }
  });
});

describe('gatewayRoute to cf_aig', () => {
  it.each([
    ['openai', 'openai', 'v1/responses', 'responses'],
    ['openai', 'openai', 'v1/audio/transcriptions', 'audio/transcriptions'],
    ['openai', 'openai', 'openai/v1/responses', 'openai/v1/responses'],
    ['openai', 'openai', 'v1beta/x', 'v1beta/x'],
    ['anthropic', 'anthropic', 'v1/messages', 'v1/messages'],
    ['xai', 'grok', 'v1/chat/completions', 'v1/chat/completions'],
    ['gemini', 'google-ai-studio', 'v1beta/models/g:generateContent', 'v1beta/models/g:generateContent'],
    ['perplexity', 'perplexity-ai', 'chat/completions', 'chat/completions'],
  ] as const)('%s → under %s, with %s as %s', (type, slug, path, sent) => {
    const route = cfAig(type);
    expect(route.baseUrl).toBe(`https://gateway.ai.cloudflare.com/v1/acc/main/${slug}/`);
    expect(route.upstreamPath(path)).toBe(sent);
  });

  it('account and gateway → one path segment each, whatever their text', () => {
    const place = { type: 'cf_aig', accountId: 'a/b?c', gatewayId: 'm%2f é' } as const;
    expect(cfAig('xai', place).baseUrl).toBe(`${BASE_URLS.cf_aig}a%2Fb%3Fc/m%252f%20%C3%A9/grok/`);
  });

  it.each([undefined, '', '.', '..'])('account or gateway %j → refused', (name) => {
    expect(() => cfAig('openai', { ...CF, accountId: name })).toThrow(TypeError);
    expect(() => cfAig('openai', { ...CF, gatewayId: name })).toThrow(TypeError);
  });

  it.each(SERVED.cf_aig)('%s → styles, endpoints and cost of its type; paths of the provider', (type) => {
    const dialect = dialectOf(type);
    const route = cfAig(type);
    expect(route).toMatchObject({ kind: 'cf_aig', modelPrefix: null, paths: 'provider', providerOnly: null });
    expect(route.credentialSource).toBe('byok');
    expect(route.apiStyles).toEqual(API_STYLES);
    expect(route.endpointPaths).toEqual(dialect.endpointStyles);
    for (const style of API_STYLES) expect(route.reportsCost(style)).toBe(dialect.reportsCost(style));
    expect(Object.isFrozen(route)).toBe(true);
  });

  it('options of another kind → no effect', () => {
    const route = gatewayRoute('openai', CF, { modelPrefix: 'x/', providerOnly: ['y'] }, BASE_URLS);
    expect(route).toMatchObject({ modelPrefix: null, providerOnly: null });
  });

  it('credential → the token in the gateway’s own header, and no provider header', () => {
    for (const type of SERVED.cf_aig) {
      expect(cfAig(type).credentialHeaders(new Secret('t'))).toEqual([['cf-aig-authorization', 'Bearer t']]);
    }
  });

  it('client headers → only the five allowed ones are forwarded', () => {
    expect([...cfAig('openai').passedHeaders].sort()).toEqual([
      'cf-aig-backoff',
      'cf-aig-cache-ttl',
      'cf-aig-max-attempts',
      'cf-aig-retry-delay',
      'cf-aig-skip-cache',
    ]);
  });

  it('probe → the type’s own, as a path under the base; none for perplexity', () => {
    const probes = SERVED.cf_aig.map((type) => cfAig(type).probe);
    expect(probes).toEqual([
      { path: 'models', headers: [] },
      { path: 'v1/models', headers: [['anthropic-version', '2023-06-01']] },
      { path: 'v1/models', headers: [] },
      { path: 'v1beta/models', headers: [] },
      null,
    ]);
  });

  it('caller → app and user as JSON; without a user only the app', () => {
    const { callerHeaders } = cfAig('openai');
    expect(callerHeaders({ appId: 'a', userId: 'u' })).toEqual(['cf-aig-metadata', '{"app_id":"a","user_id":"u"}']);
    expect(callerHeaders({ appId: 'a', userId: null })).toEqual(['cf-aig-metadata', '{"app_id":"a"}']);
    expect(callerHeaders({ appId: 'a', userId: 'é\u007f😀' })[1]).toBe(
      '{"app_id":"a","user_id":"\\u00e9\\u007f\\ud83d\\ude00"}',
    );
  });

  it('caller: any user → printable ASCII that decodes to the same user', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (userId) => {
        const [, value = ''] = cfAig('xai').callerHeaders({ appId: 'a', userId });
        expect(value).toMatch(/^[\x20-\x7e]*$/);
        expect(JSON.parse(value)).toEqual({ app_id: 'a', user_id: userId });
      }),
    );
  });
});

describe('gatewayRoute to vercel', () => {
  it.each([
    ['openai', 'openai/'],
    ['anthropic', 'anthropic/'],
    ['gemini', 'google/'],
    ['xai', 'spacexai/'],
    ['perplexity', 'perplexity/'],
    ['deepseek', 'deepseek/'],
    ['moonshot', 'moonshotai/'],
  ] as const)('%s → models named %s…, unless the instance says otherwise', (type, prefix) => {
    expect(vercel(type).modelPrefix).toBe(prefix);
    expect(vercel(type, { providerOnly: ['a'] }).modelPrefix).toBe(prefix);
    expect(vercel(type, { modelPrefix: 'own/' }).modelPrefix).toBe('own/');
  });

  it.each(SERVED.vercel)('%s → the gateway’s base, paths, styles and probe; its cost is never reported', (type) => {
    const route = vercel(type);
    expect(route).toMatchObject({ kind: 'vercel', baseUrl: BASE_URLS.vercel, paths: 'gateway' });
    expect(route.apiStyles).toEqual(['responses', 'chat_completions', 'anthropic_messages']);
    const isOfFamily = type === 'openai' || type === 'xai';
    expect([...route.endpointPaths]).toEqual(isOfFamily ? [['responses', 'v1/responses']] : []);
    expect(route.upstreamPath('v1/responses')).toBe('v1/responses');
    expect(route.probe).toEqual({ path: 'v1/credits', headers: [] });
    expect(route.credentialSource).toBeNull();
    expect(API_STYLES.some((style) => route.reportsCost(style))).toBe(false);
    expect([...route.passedHeaders]).toEqual([]);
    expect(Object.isFrozen(route)).toBe(true);
  });

  it('credential → a bearer token, whatever header the type uses', () => {
    for (const type of SERVED.vercel) {
      expect(vercel(type).credentialHeaders(new Secret('t'))).toEqual([['authorization', 'Bearer t']]);
    }
  });

  it('providerOnly → merged into bodies; without it, bodies stay unchanged', () => {
    expect(vercel('openai', { providerOnly: ['azure', 'openai'] }).providerOnly).toEqual(['azure', 'openai']);
    expect(vercel('openai').providerOnly).toBeNull();
    expect(vercel('openai', { modelPrefix: 'x/' }).providerOnly).toBeNull();
  });

  it.each([
    ['u', 'a', { 'ai-reporting-user': 'u', 'ai-reporting-tags': 'app:a' }],
    [null, 'a', { 'ai-reporting-tags': 'app:a' }],
    [
      'u'.repeat(256),
      'a'.repeat(60),
      { 'ai-reporting-user': 'u'.repeat(256), 'ai-reporting-tags': `app:${'a'.repeat(60)}` },
    ],
    ['u'.repeat(257), 'a'.repeat(61), {}],
    ['first last', 'a', { 'ai-reporting-user': 'first last', 'ai-reporting-tags': 'app:a' }],
    [' u', 'a', { 'ai-reporting-tags': 'app:a' }],
    ['é', 'a', { 'ai-reporting-tags': 'app:a' }],
    ['u\n', 'a', { 'ai-reporting-tags': 'app:a' }],
    ['', 'a', { 'ai-reporting-tags': 'app:a' }],
  ])('caller: user %j of app %j → %j', (userId, appId, headers) => {
    expect(named(vercel('openai').callerHeaders({ appId, userId }))).toEqual(headers);
  });
});
