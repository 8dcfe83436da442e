import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { buildConnector } from 'undici';
import { SystemClock } from '../../common/clock.js';
import { API_STYLES } from '../../upstreams/api-style.rules.js';
import { PROVIDER_TYPES } from '../../upstreams/provider-types.js';
import { NO_TOKENS } from '../../upstreams/usage/token-counts.js';
import type { UsageAdmission } from '../../usage/recording/usage-event.js';
import { OriginPool } from '../connections/origin-pool.js';
import type { ProviderCall } from './provider-call.js';
import { tracedCall, tracedRequest } from './traced-call.rules.js';

const END = { startedMs: 5, status: 200, error: null, reading: undefined };

function aCall(
  origin: string,
  members: Partial<ProviderCall> = {},
  admission: Partial<UsageAdmission> = {},
): ProviderCall {
  const call: Partial<ProviderCall> = {
    request: { raw: new IncomingMessage(new Socket()), method: 'POST', headers: {} },
    pool: new OriginPool(origin, { maxConnections: 1, silenceTimeoutMs: 0 }, buildConnector({}), new SystemClock()),
    style: 'chat_completions',
    admission: {
      appId: 'app-1',
      providerType: 'openai',
      providerSlug: 'main',
      model: 'm',
      ...admission,
    } as UsageAdmission,
    ...members,
  };
  return call as ProviderCall;
}

describe('tracedCall (OpenTelemetry semantic conventions for generative AI)', () => {
  it('tokens → cached tokens and cache writes count as input', () => {
    const reading = {
      ...{
        ...NO_TOKENS,
        usageSeen: true,
        inputTokens: 100,
        cachedInputTokens: 20,
        cacheWriteTokens: 3,
        outputTokens: 50,
      },
      ...{ reasoningTokens: 7, servedModel: 'm-2026', responseId: 'resp_1' },
    };
    expect(tracedCall(aCall('https://api.example.com'), { ...END, reading }).attributes).toMatchObject({
      'gen_ai.usage.input_tokens': 123,
      'gen_ai.usage.cache_read.input_tokens': 20,
      'gen_ai.usage.cache_creation.input_tokens': 3,
      'gen_ai.usage.output_tokens': 50,
      'gen_ai.usage.reasoning.output_tokens': 7,
      'gen_ai.response.model': 'm-2026',
      'gen_ai.response.id': 'resp_1',
    });
  });

  it('an answer without a count → absent, not zero', () => {
    const { attributes } = tracedCall(aCall('https://api.example.com'), {
      ...END,
      reading: { ...NO_TOKENS, usageSeen: false },
    });
    expect(Object.keys(attributes)).not.toContain('gen_ai.usage.input_tokens');
  });

  it.each([
    ['https://api.example.com', 'api.example.com', 443],
    ['http://127.0.0.1:8081', '127.0.0.1', 8081],
    ['http://[::1]', '::1', 80],
  ])('%s → server %s, port %d', (origin, address, port) => {
    const { attributes } = tracedCall(aCall(origin), END);
    expect(attributes).toMatchObject({ 'server.address': address, 'server.port': port });
  });

  it('every provider type and style → a name', () => {
    for (const providerType of PROVIDER_TYPES) {
      for (const style of API_STYLES) {
        const { operation, attributes } = tracedCall(aCall('https://a.example', { style }, { providerType }), END);
        expect(operation).toMatch(/^[a-z_]+$/);
        expect(attributes['gen_ai.provider.name']).toMatch(/^[a-z_.]+$/);
      }
    }
  });

  it.each([
    [null, '/v1/apps/{app}/proxy/{provider}/{path}'],
    ['ask', '/v1/apps/{app}/endpoints/{slug}'],
  ])('endpoint %j → %s', (endpointSlug, route) => {
    expect(tracedRequest(aCall('https://a.example', {}, { endpointSlug })).route).toBe(route);
  });
});
