import { describe, expect, it } from '@jest/globals';
import type { ApiStyle } from '../api-style.rules.js';
import type { ProviderType } from '../provider-types.js';
import type { TierPart } from './token-counts.js';
import { createUsageReader } from './usage-reader.js';

function read(style: ApiStyle, answer: string | object, type: ProviderType = 'openai', tier?: TierPart) {
  const isStream = typeof answer === 'string';
  const contentType = isStream ? 'text/event-stream' : 'application/json';
  const reportsCost = type === 'xai' || type === 'openrouter';
  const reader = createUsageReader({ style, type, reportsCost, contentType, tier });
  reader.push(Buffer.from(isStream ? answer : JSON.stringify(answer)));
  return reader.finish();
}

const partsOf = (style: ApiStyle, answer: string | object) => read(style, answer)?.parts;
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;

describe('cache writes by lifetime', () => {
  const usage = (more: object) => ({ input_tokens: 5, cache_creation_input_tokens: 400, output_tokens: 9, ...more });
  const split = (minutes: number, hour: number) => ({
    cache_creation: { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour },
  });

  it.each([
    ['all for an hour', usage(split(0, 400)), 400, { cache_write_1h: 400 }],
    ['both kinds', usage(split(100, 300)), 400, { cache_write_1h: 300 }],
    ['five minutes alone', usage(split(400, 0)), 400, undefined],
    ['not split', usage({ cache_creation: null }), 400, undefined],
    ['a remainder of no kind → the dearer one', usage(split(100, 200)), 400, { cache_write_1h: 300 }],
    ['more than the total → both kinds', usage(split(300, 300)), 600, { cache_write_1h: 300 }],
    ['no total', { input_tokens: 1, ...split(1, 2) }, 3, { cache_write_1h: 2 }],
  ])('%s', (_name, said, tokens, parts) => {
    const reading = read('anthropic_messages', { type: 'message', usage: said }, 'anthropic');
    expect([reading?.cacheWriteTokens, reading?.parts]).toEqual([tokens, parts]);
  });

  it('a stream → the split of its first event, the searches of its last', () => {
    const stream =
      event({ type: 'message_start', message: { usage: { ...usage(split(0, 400)), service_tier: 'standard' } } }) +
      event({
        type: 'message_delta',
        usage: { ...usage({}), output_tokens: 50, server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 } },
      });
    expect(read('anthropic_messages', stream, 'anthropic')).toMatchObject({
      ...{ cacheWriteTokens: 400, outputTokens: 50, hostedToolCalls: 2, otherTier: undefined },
      parts: { cache_write_1h: 400, web_search: 2 },
    });
  });
});

describe('kinds of tokens', () => {
  it('OpenAI pictures → parts of the input, of what was cached, and of the output', () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: {
        ...{ text_tokens: 30, image_tokens: 60, cached_tokens: 40 },
        cached_tokens_details: { text_tokens: 15, image_tokens: 25 },
      },
      output_tokens: 50,
      output_tokens_details: { text_tokens: 5, image_tokens: 45 },
    };
    expect(read('other', { created: 1, usage })).toMatchObject({
      ...{ inputTokens: 60, cachedInputTokens: 40, outputTokens: 50 },
      parts: { image_input: 35, cached_image_input: 25, unknown_input: 10, text_output: 5, image_output: 45 },
    });
  });

  it.each([
    ['audio alone is named: the rest is text', { prompt_tokens: 50, prompt_tokens_details: { audio_tokens: 20 } }],
    ['all of it is text', { prompt_tokens: 50, prompt_tokens_details: { text_tokens: 50, image_tokens: 0 } }],
    ['nothing is named', { prompt_tokens: 50, completion_tokens: 4 }],
  ])('%s → no parts', (_name, usage) => expect(partsOf('chat_completions', { usage })).toBeUndefined());

  it('Gemini kinds → parts; documents count as pictures, thoughts as text, the rest has no known kind', () => {
    const modality = (name: string, tokenCount: number) => ({ modality: name, tokenCount });
    const usageMetadata = {
      promptTokenCount: 100,
      promptTokensDetails: [
        modality('TEXT', 40),
        modality('IMAGE', 20),
        modality('DOCUMENT', 10),
        modality('VIDEO', 25),
      ],
      cachedContentTokenCount: 12,
      cacheTokensDetails: [modality('IMAGE', 12)],
      candidatesTokenCount: 30,
      candidatesTokensDetails: [modality('IMAGE', 20), modality('TEXT', 6)],
      thoughtsTokenCount: 7,
    };
    expect(read('gemini_native', { usageMetadata }, 'gemini')).toMatchObject({
      ...{ inputTokens: 88, cachedInputTokens: 12, outputTokens: 37 },
      parts: {
        ...{ image_input: 18, video_input: 25, unknown_input: 5, cached_image_input: 12 },
        ...{ text_output: 13, image_output: 20, unknown_output: 4 },
      },
    });
  });

  it('reasoning and citations counted outside the completion → output', () => {
    const usage = { prompt_tokens: 33, completion_tokens: 100, citation_tokens: 20, reasoning_tokens: 70 };
    const reading = read('chat_completions', { usage: { ...usage, num_search_queries: 18 } }, 'perplexity');
    expect(reading).toMatchObject({
      ...{ outputTokens: 190, reasoningTokens: 70, hostedToolCalls: 18 },
      parts: { reasoning_output: 70, citation_output: 20, web_search: 18 },
    });
  });
});

describe('calls with a fee besides tokens', () => {
  const usage = { input_tokens: 1 };
  const search = (action: string) => ({ type: 'web_search_call', action: { type: action } });

  it.each([
    [
      'searches; pages that are opened cost nothing',
      [search('search'), search('open_page'), search('find_in_page')],
      1,
    ],
    ['a search of an older kind', [{ type: 'web_search_call' }], 1],
  ])('%s', (_name, output, count) => {
    for (const answer of [
      { usage, output },
      { type: 'response.completed', response: { usage, output } },
    ]) {
      expect(read('responses', answer)).toMatchObject({ hostedToolCalls: count, parts: { web_search: count } });
    }
  });

  it('calls that the provider counts as billable → override the items', () => {
    const answer = { usage, output: [search('search')], tool_usage: { web_search: { num_requests: 4 } } };
    expect(read('responses', answer)).toMatchObject({ hostedToolCalls: 4, parts: { web_search: 4 } });
  });

  it('searches in files, and another tool → counted apart', () => {
    const output = [{ type: 'file_search_call' }, { type: 'file_search_call' }, { type: 'image_generation_call' }];
    expect(read('responses', { usage, output })).toMatchObject({ hostedToolCalls: 3, parts: { file_search: 2 } });
  });

  it.each([
    ['low', { low_context_search: 1 }],
    ['medium', { medium_context_search: 1 }],
    ['high', undefined],
    [7, undefined],
  ])('a search with %p context → %j', (search_context_size, parts) => {
    expect(partsOf('chat_completions', { usage: { ...usage, search_context_size } })).toEqual(parts);
  });

  it('sources of a live search → calls', () => {
    const answer = { usage: { ...usage, num_sources_used: 3 } };
    expect(read('chat_completions', answer)).toMatchObject({ hostedToolCalls: 3 });
  });
});

describe('the service tier of an answer', () => {
  const usage = { input_tokens: 1, prompt_tokens: 1, output_tokens: 1 };
  const COUNTS = { total_input_tokens: 1, total_output_tokens: 1 };

  it.each<[string, ApiStyle, object]>([
    ['OpenAI', 'chat_completions', { service_tier: 'priority', usage }],
    ['OpenAI Responses', 'responses', { type: 'response.completed', response: { service_tier: 'flex', usage } }],
    ['Anthropic', 'anthropic_messages', { usage: { ...usage, service_tier: 'batch' } }],
    ['Anthropic stream', 'anthropic_messages', { message: { usage: { ...usage, service_tier: 'priority' } } }],
    ['Anthropic, fast', 'anthropic_messages', { usage: { ...usage, speed: 'fast' } }],
    ['Anthropic, in one country', 'anthropic_messages', { usage: { ...usage, inference_geo: 'us' } }],
    ['Gemini', 'gemini_native', { usageMetadata: { promptTokenCount: 1, serviceTier: 'priority' } }],
    ['Vertex', 'gemini_native', { usageMetadata: { promptTokenCount: 1, trafficType: 'ON_DEMAND_FLEX' } }],
    ['Groq', 'chat_completions', { service_tier: 'performance', usage }],
    ['Cerebras', 'chat_completions', { service_tier_used: 'priority', usage }],
  ])('%s names a tier other than the standard one → it is reported', (_name, style, answer) => {
    expect(read(style, answer)?.otherTier).toEqual(expect.any(String));
  });

  it.each<[string, ApiStyle, object]>([
    ...['default', 'standard', 'auto', 'on_demand', 'Default', '', null, 3].map(
      (service_tier) =>
        [String(service_tier), 'chat_completions', { service_tier, usage }] as [string, ApiStyle, object],
    ),
    ['not available', 'anthropic_messages', { usage: { ...usage, speed: 'standard', inference_geo: 'not_available' } }],
    ['ON_DEMAND', 'gemini_native', { usageMetadata: { promptTokenCount: 1, trafficType: 'ON_DEMAND' } }],
    ['unspecified', 'gemini_native', { usageMetadata: { promptTokenCount: 1, serviceTier: 'unspecified' } }],
    ['one in a text', 'chat_completions', { text: '"service_tier":"priority"', usage }],
  ])('%s → the standard tier', (_name, style, answer) => expect(read(style, answer)?.otherTier).toBeUndefined());

  it('a stream that says auto first and the actual tier later → the last value', () => {
    const stream =
      event({ type: 'response.created', response: { service_tier: 'auto', usage: null } }) +
      event({ type: 'response.completed', response: { service_tier: 'priority', usage } });
    expect(read('responses', stream)?.otherTier).toBe('priority');
  });

  const selected = (style: ApiStyle, answer: string | object) => read(style, answer, 'openai', 'priority_tier')?.parts;

  it.each<[string, ApiStyle, object | string, object | undefined]>([
    ['no tier → the selected one', 'chat_completions', { usage }, { priority_tier: 1 }],
    ['one that is not decided → the same', 'chat_completions', { service_tier: 'auto', usage }, { priority_tier: 1 }],
    ['null → the same', 'responses', { response: { service_tier: null, usage } }, { priority_tier: 1 }],
    ['the standard one → that', 'chat_completions', { service_tier: 'default', usage }, undefined],
    ['a cheaper one → that', 'chat_completions', { service_tier: 'flex', usage }, { flex_tier: 1 }],
    ['one of no known rates → none', 'chat_completions', { service_tier: 'scale', usage }, undefined],
    [
      'ON_DEMAND of Vertex → the standard one',
      'gemini_native',
      { usageMetadata: { promptTokenCount: 1, trafficType: 'ON_DEMAND' } },
      undefined,
    ],
    [
      'one in a text, and in an event without usage → the selected one',
      'responses',
      event({ type: 'response.created', response: { service_tier: 'default', usage: null } }) +
        event({ type: 'response.completed', text: '"service_tier":"default"', response: { usage } }),
      { priority_tier: 1 },
    ],
  ])('selected by the request, and the answer names %s', (_name, style, answer, parts) => {
    expect(selected(style, answer)).toEqual(parts);
  });

  const chunk = (members: object) => event({ object: 'chat.completion.chunk', choices: [], ...members });

  it.each<[string, ApiStyle, string, object | undefined]>([
    [
      'chunks name it, the one with usage does not',
      'chat_completions',
      chunk({ service_tier: 'default' }) + chunk({ usage }),
      undefined,
    ],
    [
      'a text of a chunk has one',
      'chat_completions',
      chunk({ choices: [{ delta: { content: '"service_tier":"default"' } }] }) + chunk({ usage }),
      { priority_tier: 1 },
    ],
    [
      'each chunk has usage, and the tier changes',
      'chat_completions',
      chunk({ service_tier: 'priority', usage }) + chunk({ service_tier: 'default', usage }),
      undefined,
    ],
    [
      'an interaction begins with the selected one',
      'gemini_interactions',
      event({ event_type: 'interaction.created', interaction: { service_tier: 'priority', usage: COUNTS } }) +
        event({ event_type: 'interaction.completed', interaction: { service_tier: 'standard', usage: COUNTS } }),
      undefined,
    ],
    [
      'Gemini',
      'gemini_native',
      event({ usageMetadata: { promptTokenCount: 1, serviceTier: 'priority' } }) +
        event({ usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, serviceTier: 'standard' } }),
      undefined,
    ],
    [
      'Anthropic',
      'anthropic_messages',
      event({ type: 'message_start', message: { usage: { ...usage, service_tier: 'standard' } } }) +
        event({ type: 'message_delta', usage: { output_tokens: 4 } }),
      undefined,
    ],
    [
      'a Responses stream begins with the selected one',
      'responses',
      event({ type: 'response.created', response: { service_tier: 'priority', usage: null } }) +
        event({ type: 'response.completed', response: { service_tier: 'default', usage } }),
      undefined,
    ],
  ])(
    'a stream with a lower tier than the selected one: %s → what the last word says',
    (_name, style, stream, parts) => {
      const reading = read(style, stream, 'openai', 'priority_tier');
      expect([reading?.parts, reading?.otherTier]).toEqual([parts, undefined]);
    },
  );

  it('a surcharge of the first event → stays, whatever tier a later one names', () => {
    const stream =
      event({
        type: 'message_start',
        message: { usage: { ...usage, service_tier: 'standard', inference_geo: 'us' } },
      }) + event({ type: 'message_delta', usage: { output_tokens: 4, service_tier: 'standard' } });
    expect(read('anthropic_messages', stream)?.otherTier).toBe('us');
  });

  it('selected by the request, and the answer has no usage → no parts', () => {
    expect(selected('chat_completions', { choices: [] })).toBeUndefined();
  });
});

describe('impossible numbers', () => {
  const LIMIT = 1_000_000_000;
  const implausible = { implausible: true, usageSeen: true, inputTokens: 0, outputTokens: 0 };

  it.each<[string, ApiStyle, ProviderType, string]>([
    ['a prompt', 'responses', 'openai', `{"usage":{"input_tokens":${LIMIT + 1}}}`],
    ['beyond exact integers', 'responses', 'openai', '{"usage":{"input_tokens":1e300}}'],
    ['infinite', 'responses', 'openai', '{"usage":{"input_tokens":1e999}}'],
    [
      'most of it cached',
      'responses',
      'openai',
      '{"usage":{"input_tokens":15e8,"input_tokens_details":{"cached_tokens":8e8}}}',
    ],
    ['a part', 'responses', 'openai', '{"usage":{"input_tokens":5,"input_tokens_details":{"audio_tokens":2e9}}}'],
    [
      'reasoning',
      'responses',
      'openai',
      '{"usage":{"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2e9}}}',
    ],
    [
      'a cache write',
      'anthropic_messages',
      'anthropic',
      '{"usage":{"cache_creation_input_tokens":2e9,"input_tokens":1}}',
    ],
    [
      'an hour',
      'anthropic_messages',
      'anthropic',
      '{"usage":{"input_tokens":1,"cache_creation":{"ephemeral_1h_input_tokens":2e9}}}',
    ],
    [
      'searches',
      'anthropic_messages',
      'anthropic',
      '{"usage":{"input_tokens":1,"server_tool_use":{"web_search_requests":2e9}}}',
    ],
    ['thoughts', 'gemini_native', 'gemini', '{"usageMetadata":{"promptTokenCount":1,"thoughtsTokenCount":2e9}}'],
    [
      'both infinite',
      'gemini_native',
      'gemini',
      '{"usageMetadata":{"promptTokenCount":2e9,"cachedContentTokenCount":2e9}}',
    ],
    [
      'a kind',
      'gemini_native',
      'gemini',
      '{"usageMetadata":{"promptTokenCount":1,"promptTokensDetails":[{"modality":"IMAGE","tokenCount":2e9}]}}',
    ],
    ['a recording', 'audio_transcription', 'openai', '{"duration":2e9}'],
    ['an infinite recording', 'audio_transcription', 'openai', '{"duration":1e999}'],
    ['a reported cost', 'chat_completions', 'openrouter', '{"usage":{"prompt_tokens":1,"cost":1000001}}'],
    ['ticks', 'chat_completions', 'xai', '{"usage":{"prompt_tokens":1,"cost_in_usd_ticks":1e17}}'],
  ])('%s → ignored', (_name, style, type, text) => {
    const reader = createUsageReader({ style, type, reportsCost: true, contentType: 'application/json' });
    reader.push(Buffer.from(text));
    const reading = reader.finish();
    expect(reading).toMatchObject(implausible);
    expect([reading?.reportedCostNanoUsd, reading?.audioSeconds, reading?.parts]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('exactly the limit, in every counter at once → accepted', () => {
    const counters = { promptTokenCount: LIMIT, cachedContentTokenCount: 0, candidatesTokenCount: LIMIT };
    const reading = read('gemini_native', { usageMetadata: { ...counters, thoughtsTokenCount: LIMIT } }, 'gemini');
    expect(reading).toMatchObject({ inputTokens: LIMIT, outputTokens: 2 * LIMIT });
    expect(reading?.implausible).toBeUndefined();
    expect(read('chat_completions', { usage: { prompt_tokens: 1, cost: 1_000_000 } }, 'openrouter')).toMatchObject({
      reportedCostNanoUsd: 1e15,
    });
  });
});
