import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProxyClient } from '../../../support/proxy/proxy-client.js';
import { event, json, type Script, sse } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const RESPONSES = 'v1/responses';
const CHAT = 'v1/chat/completions';
const MESSAGES = 'v1/messages';
const IMAGES = 'v1/images/generations';
const SONNET = { model: 'claude-sonnet-5', max_tokens: 9 };

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

beforeEach(() => {
  world.logs.length = 0;
});

afterAll(() => world.stop());

const claudeUsage = {
  ...{ input_tokens: 1_000, output_tokens: 100, cache_read_input_tokens: 0, cache_creation_input_tokens: 500 },
  cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 400 },
};
/** 1 000 × 2, 100 × 2.50, 400 × 4 and 100 × 10 dollars per million. */
const CLAUDE_USD = 0.00485;
const search = { type: 'web_search_call', action: { type: 'search' } };
const imageUsage = {
  ...{ input_tokens: 300, input_tokens_details: { text_tokens: 100, image_tokens: 200 }, output_tokens: 1_000 },
  output_tokens_details: { text_tokens: 0, image_tokens: 1_000 },
};

const RATES: [string, string, string, object, Script, number][] = [
  ['cache writes for an hour', 'anthropic', MESSAGES, SONNET, json(200, { usage: claudeUsage }), CLAUDE_USD],
  [
    'cache writes for an hour, in a stream',
    'anthropic',
    MESSAGES,
    { ...SONNET, stream: true },
    sse([
      event({ type: 'message_start', message: { usage: { ...claudeUsage, output_tokens: 1 } } }),
      event({ type: 'message_delta', usage: { output_tokens: 100, cache_creation_input_tokens: 500 } }),
    ]),
    CLAUDE_USD,
  ],
  [
    'searches of Claude, 10 dollars a thousand',
    'anthropic',
    MESSAGES,
    { ...SONNET, tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    json(200, { usage: { ...claudeUsage, server_tool_use: { web_search_requests: 3, web_fetch_requests: 1 } } }),
    0.03 + CLAUDE_USD,
  ],
  [
    'searches of GPT in the web and in files',
    'openai',
    RESPONSES,
    { model: 'gpt-4.1', tools: [{ type: 'web_search' }, { type: 'file_search' }] },
    json(200, {
      usage: { input_tokens: 1_000, output_tokens: 100 },
      output: [search, { type: 'web_search_call', action: { type: 'open_page' } }, { type: 'file_search_call' }],
    }),
    0.0028 + 0.01 + 0.0025,
  ],
  [
    'a request of Sonar with little context',
    'perplexity',
    CHAT,
    { model: 'sonar', web_search_options: { search_context_size: 'low' } },
    json(200, { usage: { prompt_tokens: 1_000, completion_tokens: 100, search_context_size: 'low' } }),
    0.0011 + 0.005,
  ],
  [
    'a request of Sonar that does not say',
    'perplexity',
    CHAT,
    { model: 'sonar' },
    json(200, { usage: { prompt_tokens: 1_000, completion_tokens: 100 } }),
    0.0011 + 0.012,
  ],
  [
    'pictures put in and made',
    'openai',
    IMAGES,
    { model: 'gpt-image-1.5', prompt: 'a fox' },
    json(200, { data: [], usage: imageUsage }),
    0.0005 + 0.0016 + 0.032,
  ],
  [
    'text of a model that makes pictures',
    'gemini',
    'v1beta/models/gemini-2.5-flash-image:generateContent',
    {},
    json(200, {
      usageMetadata: {
        ...{ promptTokenCount: 1_000, candidatesTokenCount: 1_390 },
        candidatesTokensDetails: [
          { modality: 'TEXT', tokenCount: 100 },
          { modality: 'IMAGE', tokenCount: 1_290 },
        ],
      },
    }),
    0.0003 + 0.00025 + 0.0387,
  ],
];

describe('rates in the catalog (ADR 0032)', () => {
  it.each(RATES)('%s → included in the cost, and again when repriced', async (_name, type, path, body, script, usd) => {
    const policy = { allowed_paths: [path.replace(/models\/[^:]+/, 'models/{model}')] };
    const client = await ProxyClient.create(world, { provider: { type }, policy });
    world.upstream.script(script);
    expect((await client.call(path, { body })).status).toBe(200);
    const [recorded] = await client.events();
    expect([recorded.cost_usd, recorded.cost_source]).toEqual([expect.closeTo(usd, 12), 'computed']);
    const order = { provider: type, model: recorded.model, month: recorded.created_at.slice(0, 7), apply: true };
    const repriced = await world.api.post(`/v1/admin/apps/${client.appId}/usage/reprice`, order);
    expect(repriced.body).toMatchObject({ matched_events: 1, delta_usd: 0, applied: true });
  });

  it.each([
    [
      'another service tier',
      { service_tier: 'priority', usage: { input_tokens: 1_000 } },
      'service_tier_differs',
      0.002,
    ],
    ['a counter that no reader knows', { usage: { input_tokens: 1_000, new_tokens: 5 } }, 'unknown_measure', 0.002],
    ['numbers no answer can have', { usage: { input_tokens: 1_000_000_001 } }, 'usage_not_plausible', 0],
    ['the largest exact number', { usage: { input_tokens: 9_007_199_254_740_991 } }, 'usage_not_plausible', 0],
  ])('%s → unresolved with that reason, and the next call is recorded', async (_name, answer, reason, usd) => {
    const client = await ProxyClient.create(world);
    world.upstream.script(json(200, answer));
    await client.call(RESPONSES, { body: { model: 'gpt-4.1' } });
    expect(await client.events()).toMatchObject([{ cost_usd: usd, cost_source: 'unresolved', status: 'ok' }]);
    expect(client.lines('usage_unresolved_cost')).toMatchObject([{ reason }]);
    world.upstream.script(json(200, { usage: { input_tokens: 1_000 } }));
    await client.call(RESPONSES, { body: { model: 'gpt-4.1' } });
    expect(await client.events(2)).toMatchObject([{ cost_usd: 0.002, cost_source: 'computed' }, {}]);
  });

  it('an impossible reported cost → unresolved', async () => {
    const client = await ProxyClient.create(world, { provider: { type: 'openrouter' } });
    world.upstream.script(json(200, { usage: { prompt_tokens: 1, cost: 9_000_000 } }));
    await client.call(CHAT, { body: { model: 'lab/model' } });
    expect(await client.events()).toMatchObject([{ cost_usd: 0, reported_cost_usd: null, cost_source: 'unresolved' }]);
  });
});
