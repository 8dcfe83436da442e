import { describe, expect, it } from '@jest/globals';
import type { ApiStyle } from '../api-style.rules.js';
import type { ProviderType } from '../provider-types.js';
import { createUsageReader } from './usage-reader.js';

function read(style: ApiStyle, answer: string | object, type: ProviderType = 'openai') {
  const isStream = typeof answer === 'string';
  const contentType = isStream ? 'text/event-stream' : 'application/json';
  const reader = createUsageReader({ style, type, reportsCost: false, contentType });
  reader.push(Buffer.from(isStream ? answer : JSON.stringify(answer)));
  return reader.finish();
}

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const unknown = (more: object) => ({ inputTokens: 0, outputTokens: 0, tokens: 0, hasOtherUnit: false, ...more });

describe('counters that the usage readers do not know', () => {
  const chat = { prompt_tokens: 100, completion_tokens: 50 };

  it.each<[object, object]>([
    [{ ...chat, new_tokens: 7 }, { tokens: 7 }],
    [{ ...chat, prompt_tokens_details: { scent_tokens: 8 } }, { inputTokens: 8 }],
    [{ ...chat, completion_tokens_details: { scent_tokens: 9, reasoning_tokens: 3 } }, { outputTokens: 9 }],
    [{ ...chat, generated_images: 2 }, { hasOtherUnit: true }],
    [{ ...chat, minutes: [0, 2.5] }, { hasOtherUnit: true }],
    [{ ...chat, nested: { deep: [{ pages: 1 }] } }, { hasOtherUnit: true }],
    [{ ...chat, total_tokens: 180 }, { tokens: 30 }],
    [{ ...chat, total_tokens: 180, new_tokens: 30 }, { tokens: 30 }],
    [
      { ...chat, total_tokens: 180, new_input_tokens: 10 },
      { inputTokens: 10, tokens: 20 },
    ],
    [{ ...chat, constructor: 4 }, { hasOtherUnit: true }],
  ])('chat usage %j → %j', (usage, expected) => {
    expect(read('chat_completions', { usage })?.unknownMeasure).toEqual(unknown(expected));
  });

  it.each<[ApiStyle, object]>([
    ['chat_completions', { usage: { ...chat, total_tokens: 150, new_tokens: 0, note: 'x', more: null } }],
    [
      'chat_completions',
      {
        usage: {
          ...chat,
          ...{ queue_time: 0.1, prompt_time: 0.2, completion_time: 0.3, total_time: 0.5, prompt_cache_miss_tokens: 90 },
          ...{ cost: { input_tokens_cost: 1, total_cost: 2 }, num_search_queries: 2, search_context_size: 'low' },
          completion_tokens_details: { accepted_prediction_tokens: 5, rejected_prediction_tokens: 2 },
        },
      },
    ],
    ['responses', { usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15, num_server_side_tools_used: 1 } }],
    [
      'anthropic_messages',
      { usage: { input_tokens: 1, output_tokens: 2, server_tool_use: { web_search_requests: 3 } } },
    ],
    [
      'gemini_native',
      { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4, thoughtsTokenCount: 2, totalTokenCount: 15 } },
    ],
    ['audio_transcription', { usage: { type: 'duration', seconds: 9 }, duration: 8.5 }],
  ])('%s: known counters, zeros and texts → no unknown measure', (style, document) => {
    const reading = read(style, document);
    expect(reading?.usageSeen).toBe(true);
    expect(reading?.unknownMeasure).toBeUndefined();
  });

  it.each<[ApiStyle, object, object]>([
    ['responses', { usage: { input_tokens: 10, output_tokens: 5, total_tokens: 40 } }, { tokens: 25 }],
    ['gemini_native', { usageMetadata: { promptTokenCount: 9, totalTokenCount: 12 } }, { tokens: 3 }],
    ['gemini_native', { usageMetadata: { promptTokenCount: 9, songTokenCount: 12 } }, { tokens: 12 }],
    ['anthropic_messages', { usage: { input_tokens: 9, scans: 2 } }, { hasOtherUnit: true }],
    ['audio_transcription', { usage: { input_tokens: 9, output_tokens: 1, total_tokens: 12 } }, { tokens: 2 }],
    [
      'responses',
      { usage: { input_tokens: 1 }, tool_usage: { image_gen: { output_tokens: 40 } } },
      { outputTokens: 40 },
    ],
  ])('%s %j → %j', (style, document, expected) => {
    expect(read(style, document)?.unknownMeasure).toEqual(unknown(expected));
  });

  it('only in an earlier event of a stream → still unknown', () => {
    const stream = event({ usage: { ...chat, scans: 1 } }) + event({ usage: chat });
    expect(read('chat_completions', stream)?.unknownMeasure).toEqual(unknown({ hasOtherUnit: true }));
  });

  it('an earlier event whose total exceeds its parts → explained by the parts of the last one', () => {
    const counts = (candidatesTokenCount: number) => ({
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount, totalTokenCount: 15 },
    });
    const reading = read('gemini_native', event(counts(1)) + event(counts(5)), 'gemini');
    expect([reading?.outputTokens, reading?.unknownMeasure]).toEqual([5, undefined]);
    const apart =
      event({ usageMetadata: { promptTokenCount: 10 } }) +
      event({ usageMetadata: { candidatesTokenCount: 5, totalTokenCount: 15 } });
    expect(read('gemini_native', apart, 'gemini')?.unknownMeasure).toBeUndefined();
  });

  it('more reasoning than output, from a type whose totals are not reliable → unknown', () => {
    const usage = { ...chat, completion_tokens_details: { reasoning_tokens: 60 } };
    expect(read('chat_completions', { usage }, 'groq')?.unknownMeasure).toEqual(unknown({ outputTokens: 60 }));
  });

  it('an impossible total → not plausible', () => {
    expect(read('chat_completions', { usage: { ...chat, total_tokens: 2e9 } })?.implausible).toBe(true);
  });

  it('an impossible number → not plausible', () => {
    expect(read('chat_completions', { usage: { ...chat, new_tokens: 2e9 } })?.implausible).toBe(true);
  });

  it('endlessly nested usage → unknown, without an overflow', () => {
    const deep = `{"usage":{"prompt_tokens":1,"x":${'{"y":'.repeat(5_000)}1${'}'.repeat(5_000)}}}`;
    const reader = createUsageReader({
      ...{ style: 'chat_completions', type: 'openai', reportsCost: false, contentType: 'application/json' },
    });
    reader.push(Buffer.from(deep));
    expect(reader.finish()?.unknownMeasure).toEqual(unknown({ hasOtherUnit: true }));
  });
});

describe('reasoning outside the completion', () => {
  it.each<[ProviderType, object, number]>([
    [
      'xai',
      {
        ...{ prompt_tokens: 10_120, completion_tokens: 1_499, total_tokens: 14_428 },
        completion_tokens_details: { reasoning_tokens: 2_809 },
      },
      4_308,
    ],
    ['xai', { prompt_tokens: 10, completion_tokens: 100, completion_tokens_details: { reasoning_tokens: 400 } }, 500],
    ['gemini', { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 }, 603],
    ['gemini', { prompt_tokens: 20, completion_tokens: 198, total_tokens: 218 }, 198],
    ['xai', { prompt_tokens: 20, completion_tokens: 198, total_tokens: 100 }, 198],
  ])('%s %j → output %d, nothing unknown', (type, usage, output) => {
    const reading = read('chat_completions', { usage }, type);
    expect([reading?.outputTokens, reading?.unknownMeasure]).toEqual([output, undefined]);
  });

  it('a type whose totals are not reliable → the rest is unknown', () => {
    const usage = { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 };
    const reading = read('chat_completions', { usage }, 'together');
    expect([reading?.outputTokens, reading?.unknownMeasure]).toEqual([198, unknown({ tokens: 405 })]);
  });
});

describe('audio of chat models', () => {
  it('seconds beside the tokens of a prompt → a measure, which explains why the total is higher', () => {
    const usage = { prompt_audio_seconds: 203, prompt_tokens: 4, completion_tokens: 635, total_tokens: 3_264 };
    const reading = read('chat_completions', { usage }, 'mistral');
    expect(reading).toMatchObject({ inputTokens: 4, outputTokens: 635, parts: { audio_input_ms: 203_000 } });
    expect(reading?.unknownMeasure).toBeUndefined();
    expect(read('audio_transcription', { usage }, 'mistral')?.audioSeconds).toBe(203);
  });
});

describe('Anthropic iterations', () => {
  const top = { input_tokens: 23_000, output_tokens: 1_000 };
  const iteration = (type: string, input: number, output: number, more: object = {}) => ({
    ...{ type, input_tokens: input, output_tokens: output, ...more },
  });
  const compacted = {
    ...top,
    iterations: [iteration('compaction', 180_000, 3_500), iteration('message', 23_000, 1_000)],
  };

  it('compaction → added to the counters, which omit it; the largest iteration determines the context', () => {
    const expected = { inputTokens: 203_000, outputTokens: 4_500, parts: { largest_prompt: 180_000 } };
    const document = read('anthropic_messages', { type: 'message', usage: compacted }, 'anthropic');
    expect(document).toMatchObject(expected);
    expect(document?.unknownMeasure).toBeUndefined();
    const start = event({ type: 'message_start', message: { usage: { input_tokens: 23_000, output_tokens: 1 } } });
    const stream = start + event({ type: 'message_delta', usage: compacted });
    expect(read('anthropic_messages', stream, 'anthropic')).toMatchObject(expected);
  });

  it('only iterations of the message → the counters unchanged', () => {
    const usage = { ...top, iterations: [iteration('message', 3_000, 400), iteration('message', 20_000, 600)] };
    const reading = read('anthropic_messages', { usage }, 'anthropic');
    expect(reading).toMatchObject({ inputTokens: 23_000, outputTokens: 1_000, parts: undefined });
  });

  it('caches of a compaction → in their buckets, by cache lifetime', () => {
    const cached = {
      ...{ cache_read_input_tokens: 50, cache_creation_input_tokens: 30 },
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    };
    const usage = { ...top, iterations: [iteration('compaction', 7, 2, cached)] };
    expect(read('anthropic_messages', { usage }, 'anthropic')).toMatchObject({
      ...{ inputTokens: 23_007, cachedInputTokens: 50, cacheWriteTokens: 30, outputTokens: 1_002 },
      parts: { cache_write_1h: 20 },
    });
  });

  it.each(['advisor_message', 'something_new'])('%s → unknown: another model may have other rates', (type) => {
    const usage = { ...compacted, iterations: [...compacted.iterations, iteration(type, 900, 80)] };
    const reading = read('anthropic_messages', { usage }, 'anthropic');
    expect(reading).toMatchObject({ inputTokens: 203_000, outputTokens: 4_500 });
    expect(reading?.unknownMeasure).toEqual(unknown({ inputTokens: 900, outputTokens: 80 }));
  });
});

describe('parts and totals of different events', () => {
  const writes = (total: number, split?: [minutes: number, hour: number]) => ({
    ...{ input_tokens: 3, output_tokens: 9, cache_creation_input_tokens: total },
    ...(split && { cache_creation: { ephemeral_5m_input_tokens: split[0], ephemeral_1h_input_tokens: split[1] } }),
  });

  it.each<[string, [number, number], number, number, object | undefined]>([
    ['all for an hour, and more later', [0, 31_490], 31_490, 184_457, { cache_write_1h: 184_457 }],
    ['both kinds, and more later', [490, 31_000], 31_490, 184_457, { cache_write_1h: 183_967 }],
    ['five minutes, no more later', [31_490, 0], 31_490, 31_490, undefined],
    ['five minutes, and more later', [31_490, 0], 31_490, 40_000, { cache_write_1h: 8_510 }],
  ])('cache writes: %s → the rest costs the highest rate', (_name, split, first, last, parts) => {
    const start = event({ type: 'message_start', message: { usage: writes(first, split) } });
    const stream = start + event({ type: 'message_delta', usage: writes(last) });
    expect(read('anthropic_messages', stream, 'anthropic')).toMatchObject({ cacheWriteTokens: last, parts });
  });

  it('a last event without the kinds of its prompt → these kinds are unknown', () => {
    const usage = { promptTokenCount: 40, candidatesTokenCount: 1 };
    const details = {
      promptTokensDetails: [
        { modality: 'AUDIO', tokenCount: 30 },
        { modality: 'TEXT', tokenCount: 10 },
      ],
    };
    const stream =
      event({ usageMetadata: { ...usage, ...details } }) +
      event({ usageMetadata: { ...usage, candidatesTokenCount: 5 } });
    expect(read('gemini_native', stream, 'gemini')).toMatchObject({
      ...{ inputTokens: 40, outputTokens: 5, audioInputTokens: 0, parts: { unknown_input: 40 } },
    });
  });

  it('a last event without the prompt → the prompt of the event that has it', () => {
    const stream =
      event({ usageMetadata: { promptTokenCount: 40, cachedContentTokenCount: 10 } }) +
      event({ usageMetadata: { candidatesTokenCount: 5 } });
    expect(read('gemini_native', stream, 'gemini')).toMatchObject({
      ...{ inputTokens: 30, cachedInputTokens: 10, outputTokens: 5 },
    });
  });
});

describe('calls that appear only in earlier events of a stream', () => {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const done = (id: string, type: string, more: object = {}) =>
    event({ type: 'response.output_item.done', item: { id, type, status: 'completed', ...more } });
  const completed = (more: object = {}) => event({ type: 'response.completed', response: { usage, ...more } });

  it.each([
    ['no items', {}],
    ['an empty list of items', { output: [] }],
    ['one of them', { output: [{ id: 'a', type: 'web_search_call' }] }],
  ])('a last event with %s → what the stream announced', (_name, last) => {
    const stream =
      event({ type: 'response.output_item.added', item: { id: 'a', type: 'web_search_call' } }) +
      done('a', 'web_search_call', { action: { type: 'search' } }) +
      done('b', 'web_search_call', { action: { type: 'search' } }) +
      done('c', 'web_search_call', { action: { type: 'open_page' } }) +
      done('d', 'file_search_call') +
      done('e', 'function_call', { arguments: '{}' }) +
      done('f', 'code_interpreter_call') +
      event({ type: 'response.output_text.delta', delta: '"type":"web_search_call"' }) +
      completed(last);
    expect(read('responses', stream)).toMatchObject({
      ...{ hostedToolCalls: 4, parts: { web_search: 2, file_search: 1 } },
    });
  });

  it('a result of a megabyte → counted from its head', () => {
    const stream = done('ig_1', 'image_generation_call', { result: 'x'.repeat(2_000_000) }) + completed({ output: [] });
    expect(read('responses', stream)?.hostedToolCalls).toBe(1);
  });

  it('what the provider bills → overrides the announced calls', () => {
    const billed = { output: [], tool_usage: { web_search: { num_requests: 1 } } };
    const stream = done('a', 'web_search_call') + done('b', 'web_search_call') + completed(billed);
    expect(read('responses', stream)).toMatchObject({ hostedToolCalls: 1, parts: { web_search: 1 } });
  });

  it('tools without an extra fee → no calls', () => {
    const stream = ['mcp_call', 'tool_search_call', 'custom_tool_call'].map((type) => done(type, type)).join('');
    expect(read('responses', stream + completed({ output: [] }))?.hostedToolCalls).toBe(0);
  });

  const block = (index: number, name: string) =>
    event({ type: 'content_block_start', index, content_block: { type: 'server_tool_use', id: `srv_${index}`, name } });
  const start = event({ type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } });
  const delta = (more: object = {}) => event({ type: 'message_delta', usage: { output_tokens: 50, ...more } });

  it('Anthropic blocks → counted if the usage does not count them', () => {
    const blocks = block(0, 'web_search') + block(1, 'web_search') + block(2, 'web_fetch');
    const expected = { hostedToolCalls: 2, parts: { web_search: 2 } };
    expect(read('anthropic_messages', start + blocks + delta(), 'anthropic')).toMatchObject(expected);
    const billed = delta({ server_tool_use: { web_search_requests: 1 } });
    expect(read('anthropic_messages', start + blocks + billed, 'anthropic')).toMatchObject({
      ...{ hostedToolCalls: 1, parts: { web_search: 1 } },
    });
    expect(read('anthropic_messages', start + billed + delta(), 'anthropic')).toMatchObject({
      ...{ hostedToolCalls: 1, parts: { web_search: 1 } },
    });
  });

  it('counters of a chat stream → taken from the last event that has them', () => {
    const chat = { prompt_tokens: 1, completion_tokens: 5 };
    const stream =
      event({ usage: { ...chat, num_search_queries: 3 } }) + event({ usage: chat }) + event({ usage: chat });
    expect(read('chat_completions', stream, 'perplexity')).toMatchObject({
      ...{ hostedToolCalls: 3, parts: { web_search: 3 } },
    });
  });
});
