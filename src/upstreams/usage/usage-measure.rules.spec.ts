import { describe, expect, it } from '@jest/globals';
import { NO_TOKENS } from './token-counts.js';
import { measureOf } from './usage-measure.rules.js';

const tokens = (style: Parameters<typeof measureOf>[0], document: object) => measureOf(style, { ...document })?.tokens;

describe('OpenAI format', () => {
  it('Responses answer → cached and written tokens leave the input bucket, reasoning stays in the output', () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 20 },
    };
    const expected = {
      ...NO_TOKENS,
      inputTokens: 30,
      cachedInputTokens: 60,
      cacheWriteTokens: 10,
      outputTokens: 50,
      reasoningTokens: 20,
    };
    expect(tokens('responses', { usage })).toEqual(expected);
    expect(tokens('responses', { type: 'response.completed', response: { usage } })).toEqual(expected);
  });

  it.each([
    [{ prompt_tokens_details: { cached_tokens: 4 }, prompt_cache_hit_tokens: 9 }, 4],
    [{ prompt_tokens_details: { cached_tokens: 0 }, cached_tokens: 3 }, 3],
    [{ prompt_cache_hit_tokens: 9 }, 9],
    [{ cached_tokens: '7' }, 0],
  ])('chat usage with %j → %i cached, the first that is not zero', (more, cached) => {
    const usage = { prompt_tokens: 10, completion_tokens: 1, ...more };
    expect(tokens('chat_completions', { usage })).toMatchObject({
      inputTokens: 10 - cached,
      cachedInputTokens: cached,
      outputTokens: 1,
    });
  });

  it('audio tokens → parts of their buckets, never more than the bucket', () => {
    const usage = {
      prompt_tokens: 50,
      prompt_tokens_details: { cached_tokens: 20, audio_tokens: 45, cached_tokens_details: { audio_tokens: 15 } },
      completion_tokens: 8,
      completion_tokens_details: { audio_tokens: 9 },
    };
    expect(tokens('chat_completions', { usage })).toMatchObject({
      inputTokens: 30,
      audioInputTokens: 30,
      audioCachedInputTokens: 15,
      audioOutputTokens: 8,
    });
  });

  it('more cached than input tokens → the input is zero, not negative', () => {
    expect(tokens('responses', { usage: { input_tokens: 1, cached_tokens: 5 } })?.inputTokens).toBe(0);
  });

  it.each([
    {},
    { usage: null },
    { usage: {} },
    { usage: { total_tokens: 9 } },
    { usage: { input_tokens: '5', output_tokens: -1 } },
    { usage: [{ input_tokens: 5 }] },
  ])('%j → no usage, which is not zero', (document) => {
    expect(measureOf('responses', document)).toBeUndefined();
  });

  it('fractions → truncated; inherited members → ignored', () => {
    expect(tokens('responses', { usage: { input_tokens: 2.9 } })?.inputTokens).toBe(2);
    const inherited: object = Object.create({ input_tokens: 5 });
    expect(tokens('responses', { usage: inherited })).toBeUndefined();
  });

  it('hosted tools → the paid calls among the output items, or the provider’s counter, or unknown', () => {
    const usage = { input_tokens: 1 };
    const output = [{ type: 'web_search_call' }, { type: 'function_call' }, { type: 'message' }, null, {}];
    expect(measureOf('responses', { usage, output })?.hostedToolCalls).toBe(1);
    expect(measureOf('responses', { response: { usage, output: [] } })?.hostedToolCalls).toBe(0);
    const counted = { usage: { ...usage, num_server_side_tools_used: 3 } };
    expect(measureOf('chat_completions', counted)?.hostedToolCalls).toBe(3);
    expect(measureOf('chat_completions', { usage })?.hostedToolCalls).toBeUndefined();
  });
});

describe('Anthropic format', () => {
  const usage = {
    input_tokens: 7,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 20,
    output_tokens: 9,
    output_tokens_details: { thinking_tokens: 4 },
  };

  it('message and message_start → buckets unchanged: the input already excludes the cache', () => {
    const expected = {
      ...NO_TOKENS,
      inputTokens: 7,
      cachedInputTokens: 100,
      cacheWriteTokens: 20,
      outputTokens: 9,
      reasoningTokens: 4,
    };
    expect(tokens('anthropic_messages', { type: 'message', usage })).toEqual(expected);
    expect(tokens('anthropic_messages', { type: 'message_start', message: { usage } })).toEqual(expected);
  });

  it.each([
    [null, 0],
    [{ web_search_requests: 2, code_execution_requests: 1, web_fetch_requests: 9, note: 'x' }, 3],
    [{ tool_search_requests: 2, web_fetch_requests: 1 }, 0],
    [{ something_new_requests: 2 }, 2],
    [undefined, undefined],
  ])('server_tool_use %j → %p hosted calls', (server_tool_use, calls) => {
    const document = { usage: server_tool_use === undefined ? usage : { ...usage, server_tool_use } };
    expect(measureOf('anthropic_messages', document)?.hostedToolCalls).toBe(calls);
  });

  it('no known counter → no usage', () => {
    expect(measureOf('anthropic_messages', { usage: { service_tier: 'standard' } })).toBeUndefined();
  });
});

describe('Gemini format', () => {
  it('usage metadata → thoughts count as output, audio is a part of each bucket', () => {
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      candidatesTokenCount: 10,
      thoughtsTokenCount: 5,
      promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }, { modality: 'TEXT', tokenCount: 50 }, 7],
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 30 }],
      candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 3 }],
    };
    expect(tokens('gemini_native', { usageMetadata })).toEqual({
      inputTokens: 60,
      cachedInputTokens: 40,
      cacheWriteTokens: 0,
      outputTokens: 15,
      reasoningTokens: 5,
      audioInputTokens: 20,
      audioCachedInputTokens: 30,
      audioOutputTokens: 3,
      // Thoughts are text; output tokens that the split does not cover are of unknown kind.
      parts: { text_output: 5, unknown_output: 7 },
    });
  });

  it('tool-use prompt tokens → added to the input, even without other counters', () => {
    const usageMetadata = { promptTokenCount: 100, cachedContentTokenCount: 40, toolUsePromptTokenCount: 7 };
    expect(tokens('gemini_native', { usageMetadata })).toMatchObject({ inputTokens: 67, cachedInputTokens: 40 });
    const alone = { usageMetadata: { toolUsePromptTokenCount: 7 } };
    expect(tokens('gemini_native', alone)).toMatchObject({ inputTokens: 7, outputTokens: 0 });
  });

  it('only a total → no usage', () => {
    expect(measureOf('gemini_native', { usageMetadata: { totalTokenCount: 4 } })).toBeUndefined();
  });
});

describe('audio format', () => {
  it('seconds in the usage → preferred to the duration; tokens are read too', () => {
    const usage = { seconds: 12.5, input_tokens: 30, output_tokens: 4, input_token_details: { audio_tokens: 25 } };
    const measure = measureOf('audio_transcription', { usage, duration: 99 });
    expect(measure?.audioSeconds).toBe(12.5);
    expect(measure?.tokens).toMatchObject({ inputTokens: 30, audioInputTokens: 25, outputTokens: 4 });
  });

  it.each([
    [{ duration: 8.47 }, 8.47],
    [{ duration: 0 }, 0],
    [{ duration: '8.47' }, undefined],
    [{ duration: -1 }, undefined],
    [{ text: 'x' }, undefined],
  ])('%j → %p seconds', (document, seconds) => {
    expect(measureOf('audio_transcription', document)?.audioSeconds).toBe(seconds);
  });
});

describe('style other', () => {
  it.each([
    [{ usageMetadata: { promptTokenCount: 1 }, usage: { input_tokens: 1 } }, 'gemini'],
    [{ type: 'message_delta', usage: { output_tokens: 1 } }, 'anthropic'],
    [{ message: { usage: { input_tokens: 1 } } }, 'anthropic'],
    [{ usage: { input_tokens: 1, cache_read_input_tokens: 0 } }, 'anthropic'],
    [{ duration: 3 }, 'audio'],
    [{ usage: { type: 'duration', seconds: 3 } }, 'audio'],
    [{ usage: { prompt_tokens: 3 } }, 'openai'],
  ])('%j → read as %s', (document, format) => {
    expect(measureOf('other', document)?.format).toBe(format);
  });

  it('named style → the answer does not determine the format', () => {
    expect(measureOf('chat_completions', { usageMetadata: { promptTokenCount: 1 } })).toBeUndefined();
  });
});
