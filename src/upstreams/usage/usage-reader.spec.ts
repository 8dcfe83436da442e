import { describe, expect, it } from '@jest/globals';
import type { ApiStyle } from '../api-style.rules.js';
import { createUsageReader, type UsageReaderOptions } from './usage-reader.js';

type Setup = Partial<UsageReaderOptions>;

function read(body: string | Buffer, setup: Setup = {}) {
  const reader = createUsageReader({
    style: 'responses',
    type: 'openai',
    reportsCost: false,
    contentType: 'application/json',
    ...setup,
  });
  reader.push(Buffer.from(body));
  return reader.finish();
}

const MIB = 1024 * 1024;

describe('JSON document', () => {
  it('whole answer → usage and response id', () => {
    const body = { id: 'resp_1', object: 'response', output: [], usage: { input_tokens: 3, output_tokens: 2 } };
    expect(read(JSON.stringify(body))).toMatchObject({
      usageSeen: true,
      inputTokens: 3,
      outputTokens: 2,
      responseId: 'resp_1',
      hostedToolCalls: 0,
    });
  });

  it('Chat Completions answer → its id is not a response id', () => {
    const body = { id: 'chatcmpl-1', usage: { prompt_tokens: 3 } };
    expect(read(JSON.stringify(body), { style: 'chat_completions' })?.responseId).toBeUndefined();
  });

  it('unnamed path with a response object → has a response id', () => {
    expect(read('{"object":"response","id":"r-1","usage":{"input_tokens":1}}', { style: 'other' })?.responseId).toBe(
      'r-1',
    );
    expect(
      read('{"object":"list","id":"r-1","usage":{"input_tokens":1}}', { style: 'other' })?.responseId,
    ).toBeUndefined();
  });

  it('answer without usage → undefined, not zero; an id alone → a reading without usage', () => {
    expect(read('{"output":[]}')).toBeUndefined();
    expect(read('{"error":{"message":"no"}}')).toMatchObject({ usageSeen: false, failure: 'before_content' });
    expect(read('')).toBeUndefined();
    expect(read('{"id":"resp_1","object":"response"}')).toMatchObject({ usageSeen: false, responseId: 'resp_1' });
  });

  it('Gemini list of documents → the last usage wins', () => {
    const elements = [1, 2, 3].map((count) => ({ usageMetadata: { candidatesTokenCount: count } }));
    const body = JSON.stringify([...elements, { candidates: [] }]);
    expect(read(body, { style: 'gemini_native', type: 'gemini' })?.outputTokens).toBe(3);
    const cut = body.slice(0, body.indexOf('3}'));
    expect(read(cut, { style: 'gemini_native', type: 'gemini' })?.outputTokens).toBe(2);
  });

  it.each([
    ['in its tail', { data: 'x'.repeat(2 * MIB), usage: { input_tokens: 5 } }],
    ['in its head', { usage: { input_tokens: 5 }, data: 'x'.repeat(2 * MIB) }],
  ])('document beyond the windows with usage %s → found', (_where, document) => {
    expect(read(JSON.stringify({ id: 'resp_9', ...document }))).toMatchObject({ inputTokens: 5, responseId: 'resp_9' });
  });

  it('long transcription → duration read from the tail', () => {
    const body = JSON.stringify({ words: 'x'.repeat(2 * MIB), duration: 61.5, language: 'en' });
    expect(read(body, { style: 'audio_transcription' })).toMatchObject({ usageSeen: true, audioSeconds: 61.5 });
  });

  it.each(['audio/mpeg', 'image/png', 'VIDEO/mp4'])('%s → its bytes are not searched', (contentType) => {
    expect(read('{"usage":{"input_tokens":5}}', { contentType })).toBeUndefined();
  });

  it('answer text that looks like usage → ignored', () => {
    const forged = JSON.stringify({ output: '"usage":{"input_tokens":999}', usage: { input_tokens: 1 } });
    expect(read(forged)?.inputTokens).toBe(1);
    expect(read(forged.slice(0, forged.indexOf(',"usage"')))).toBeUndefined();
  });
});

describe('reported cost', () => {
  const xai = { style: 'responses', type: 'xai', reportsCost: true } as const;
  const openrouter = { style: 'chat_completions', type: 'openrouter', reportsCost: true } as const;

  it.each([
    [158_500, 15_850],
    [15, 2],
    [0, 0],
    [-5, undefined],
    ['15', undefined],
  ])('xAI ticks %p → %p nano-dollars', (ticks, nano) => {
    const body = JSON.stringify({ usage: { input_tokens: 1, cost_in_usd_ticks: ticks } });
    expect(read(body, xai)?.reportedCostNanoUsd).toBe(nano);
  });

  it('a route that reports no cost → the figure does not count', () => {
    const body = '{"usage":{"input_tokens":1,"cost_in_usd_ticks":50}}';
    expect(read(body, { ...xai, reportsCost: false })?.reportedCostNanoUsd).toBeUndefined();
    expect(read(body)?.reportedCostNanoUsd).toBeUndefined();
  });

  it.each([
    [{ cost: 0.00014 }, 140_000, undefined],
    [{ cost: 0 }, 0, undefined],
    [{ cost: -1 }, undefined, undefined],
    [{ cost: 0.1, is_byok: true, cost_details: { upstream_inference_cost: 0.2 } }, 300_000_000, 'byok'],
    [{ cost: 0.1, is_byok: true, cost_details: { upstream_inference_cost: 0 } }, 100_000_000, 'byok'],
    [{ cost: 0.1, is_byok: true }, 100_000_000, 'byok'],
    [{ cost: 0.104626, is_byok: false, cost_details: { upstream_inference_cost: 0.104626 } }, 104_626_000, undefined],
    [{ cost: 0.1, cost_details: { upstream_inference_cost: 0.1 } }, 100_000_000, undefined],
    [{ cost: 0.1, is_byok: 'true', cost_details: { upstream_inference_cost: 0.1 } }, 100_000_000, undefined],
    [{ cost: 1e300 }, undefined, undefined],
  ])('OpenRouter usage %j → %p nano-dollars, credential %p', (usage, nano, source) => {
    const reading = read(JSON.stringify({ model: 'a/b', usage: { prompt_tokens: 1, ...usage } }), openrouter);
    expect(reading?.reportedCostNanoUsd).toBe(nano);
    if (nano !== undefined) expect(reading?.credentialSource).toBe(source);
  });

  it('OpenRouter metadata that names the customer’s key → the cost paid with that key counts too', () => {
    const usage = { prompt_tokens: 1, cost: 0.1, cost_details: { upstream_inference_cost: 0.2 } };
    const reading = read(JSON.stringify({ usage, openrouter_metadata: { is_byok: true } }), openrouter);
    expect(reading).toMatchObject({ reportedCostNanoUsd: 300_000_000, credentialSource: 'byok' });
  });

  it.each(['openai', 'perplexity', 'deepseek', 'bytedance'] as const)(
    '%s, whose form of a cost is unknown → no reported cost, even in a format that other types use',
    (type) => {
      const body = '{"usage":{"prompt_tokens":1,"cost_in_usd_ticks":50,"cost":3}}';
      const reading = read(body, { ...openrouter, type });
      expect(reading?.reportedCostNanoUsd).toBeUndefined();
    },
  );

  it('OpenRouter without a counter → reported cost, no usage', () => {
    const reading = read('{"usage":{"cost":0.5}}', openrouter);
    expect(reading).toMatchObject({ usageSeen: false, reportedCostNanoUsd: 500_000_000 });
  });

  it('OpenRouter: serving provider → the selected endpoint, else the root member', () => {
    const available = [{ provider: 'A' }, { provider: 'B', selected: true }];
    const body = {
      model: 'lab/m',
      provider: 'C',
      usage: { cost: 0 },
      openrouter_metadata: { endpoints: { available } },
    };
    expect(read(JSON.stringify(body), openrouter)).toMatchObject({ servedProvider: 'B', servedModel: 'lab/m' });
    const plain = { model: 'lab/m', provider: 'C', usage: { cost: 0 } };
    expect(read(JSON.stringify(plain), openrouter)?.servedProvider).toBe('C');
  });
});

describe('Anthropic stream', () => {
  const start = 'data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}\n\n';
  const text = 'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"long"}}\n\n';
  const delta = 'data: {"type":"message_delta","usage":{"output_tokens":500}}\n\n';

  it.each([
    ['anthropic_messages', start + text, true, 1],
    ['other', start + text, true, 1],
    ['anthropic_messages', start + text + delta, false, 500],
  ] as const)('%s, truncated before or after it reports what it generated', (style, body, isOpening, outputTokens) => {
    const reading = read(body, { style, type: 'anthropic', contentType: 'text/event-stream' });
    expect(reading).toMatchObject({ usageSeen: true, inputTokens: 9, outputTokens });
    expect(reading?.isOpening ?? false).toBe(isOpening);
  });
});

describe('ids of kept objects in a document of any size', () => {
  const FILLING = 'A'.repeat(3 * MIB);
  /** @returns the ids, read from pieces of that many bytes. */
  function idsIn(document: object, style: ApiStyle, bytes = 64 * 1024, keeps = true) {
    const reader = createUsageReader({
      style,
      type: 'openai',
      reportsCost: false,
      keeps,
      contentType: 'application/json',
    });
    const text = Buffer.from(JSON.stringify(document));
    for (let at = 0; at < text.length; at += bytes) reader.push(text.subarray(at, at + bytes));
    const reading = reader.finish();
    return [reading?.responseId, ...(reading?.keptIds ?? [])];
  }

  it.each<[string, ApiStyle, object, readonly (string | undefined)[]]>([
    [
      'response',
      'responses',
      {
        object: 'response',
        metadata: { id: 'forged', output: [{ id: 'forged' }] },
        output: [
          { id: 'ig_1', type: 'image_generation_call', result: FILLING },
          { id: 'ci_1', type: 'code_interpreter_call', container_id: 'cntr_1', code: FILLING },
          { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: `{"id":"forged"}` }] },
        ],
        conversation: { id: 'conv_1' },
        id: 'resp_1',
        usage: { input_tokens: 1, output_tokens: 1 },
      },
      ['resp_1', 'ig_1', 'ci_1', 'cntr_1', 'msg_1', 'conv_1'],
    ],
    [
      'completion',
      'chat_completions',
      { id: 'chatcmpl_1', choices: [{ message: { content: '', audio: { data: FILLING, id: 'audio_1' } } }] },
      [undefined, 'chatcmpl_1', 'audio_1'],
    ],
    [
      'message',
      'anthropic_messages',
      { type: 'message', content: [{ type: 'text', text: FILLING, id: 'x' }], container: { id: 'c_1' }, id: 'msg_1' },
      [undefined, 'msg_1', 'c_1'],
    ],
    [
      'response on a path without a style',
      'other',
      { object: 'response', output: [{ data: FILLING, id: 'm' }], id: 'r' },
      ['r', 'm'],
    ],
  ])('a %s of megabytes → all of them, in pieces of any size', (_name, style, document, ids) => {
    expect(idsIn(document, style)).toEqual(ids);
    expect(idsIn(document, style, 1_000_003)).toEqual(ids);
    expect(idsIn(document, style, 8 * MIB)).toEqual(ids);
    expect(idsIn(document, style, 64 * 1024, false).slice(1)).toEqual([]);
  });

  it('a document around the size limit of what is kept → the same ids below and above it', () => {
    const document = { object: 'response', output: [{ id: 'msg_1', filling: '' }], id: 'resp_1' };
    const own = Buffer.byteLength(JSON.stringify(document));
    for (const length of [-1, 0, 1].map((more) => 1.25 * MIB + more - own)) {
      const filled = { ...document, output: [{ id: 'msg_1', filling: 'x'.repeat(length) }] };
      expect(idsIn(filled, 'responses')).toEqual(['resp_1', 'msg_1']);
    }
  });
});
