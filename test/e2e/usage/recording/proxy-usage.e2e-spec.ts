import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type CallOptions, ProxyClient } from '../../../support/proxy/proxy-client.js';
import { event, json, type Script, sse } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const RESPONSES = 'v1/responses';
const CHAT = 'v1/chat/completions';
const FLASH = 'v1beta/models/gemini-2.5-flash';
const PRO = 'v1beta/models/gemini-2.5-pro:generateContent';
const TRANSCRIPTIONS = 'v1/audio/transcriptions';
const GPT = { model: 'gpt-4.1' };
const SONNET = { model: 'claude-sonnet-5', max_tokens: 9 };

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

beforeEach(() => {
  world.logs.length = 0;
  world.upstream.forget();
});

afterAll(() => world.stop());

const form = (model: string): CallOptions => ({
  headers: ['content-type', 'multipart/form-data; boundary=b'],
  body: `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--b--\r\n`,
});

const responsesUsage = {
  input_tokens: 1200,
  input_tokens_details: { cached_tokens: 200 },
  output_tokens: 300,
  output_tokens_details: { reasoning_tokens: 100 },
  total_tokens: 1500,
};
const chatUsage = {
  prompt_tokens: 1200,
  prompt_tokens_details: { cached_tokens: 200 },
  completion_tokens: 300,
  total_tokens: 1500,
};
const claudeUsage = { input_tokens: 1000, cache_read_input_tokens: 2000, cache_creation_input_tokens: 400 };
const geminiUsage = (output: number) => ({
  candidates: [],
  usageMetadata: {
    promptTokenCount: 1100,
    cachedContentTokenCount: 100,
    candidatesTokenCount: output,
    thoughtsTokenCount: 50,
    totalTokenCount: 1350,
  },
});
const proPrompt = (tokens: number) => ({ usageMetadata: { promptTokenCount: tokens, candidatesTokenCount: 10 } });

interface Tokens {
  readonly input?: number;
  readonly cached?: number;
  readonly written?: number;
  readonly output?: number;
}

/** 1000 × 2, 200 × 0.50 and 300 × 8 dollars per million. */
const GPT_TOKENS: Tokens = { input: 1000, cached: 200, output: 300 };
const GPT_USD = 0.0045;
/** 1000 × 2, 2000 × 0.20, 400 × 2.50 and 500 × 10. */
const CLAUDE_TOKENS: Tokens = { input: 1000, cached: 2000, written: 400, output: 500 };
const CLAUDE_USD = 0.0084;
/** 1000 × 0.30, 100 × 0.03 and 250 × 2.50; thoughts are output. */
const GEMINI_TOKENS: Tokens = { input: 1000, cached: 100, output: 250 };
const GEMINI_USD = 0.000928;

const ANSWERS: [string, string, string, CallOptions, Script, Tokens, number][] = [
  [
    'OpenAI Responses',
    'openai',
    RESPONSES,
    { body: GPT },
    json(200, { id: 'r', usage: responsesUsage }),
    GPT_TOKENS,
    GPT_USD,
  ],
  [
    'OpenAI Responses stream',
    'openai',
    RESPONSES,
    { body: { ...GPT, stream: true } },
    sse([
      event({ type: 'response.created', response: { id: 'r', usage: null } }),
      event({ type: 'response.output_text.delta', delta: '"usage":{"input_tokens":9}' }),
      event({ type: 'response.completed', response: { id: 'r', usage: responsesUsage } }),
    ]),
    GPT_TOKENS,
    GPT_USD,
  ],
  ['Chat Completions', 'openai', CHAT, { body: GPT }, json(200, { usage: chatUsage }), GPT_TOKENS, GPT_USD],
  [
    'Chat Completions stream, its usage cut into bytes',
    'openai',
    CHAT,
    { body: { ...GPT, stream: true } },
    sse([...(event({ choices: [{ delta: {} }] }) + event({ choices: [], usage: chatUsage }) + event('[DONE]'))]),
    GPT_TOKENS,
    GPT_USD,
  ],
  [
    'embeddings',
    'openai',
    'v1/embeddings',
    { body: GPT },
    json(200, { usage: { prompt_tokens: 500 } }),
    { input: 500 },
    0.001,
  ],
  [
    'Anthropic Messages',
    'anthropic',
    'v1/messages',
    { body: SONNET },
    json(200, { type: 'message', usage: { ...claudeUsage, output_tokens: 500 } }),
    CLAUDE_TOKENS,
    CLAUDE_USD,
  ],
  [
    'Anthropic Messages stream',
    'anthropic',
    'v1/messages',
    { body: { ...SONNET, stream: true } },
    sse([
      event({ type: 'message_start', message: { usage: { ...claudeUsage, output_tokens: 1 } } }),
      event({ type: 'message_delta', usage: { output_tokens: 400 } }),
      event({ type: 'message_delta', usage: { output_tokens: 500 } }),
      event({ type: 'message_stop' }),
    ]),
    CLAUDE_TOKENS,
    CLAUDE_USD,
  ],
  [
    'Gemini',
    'gemini',
    `${FLASH}:generateContent`,
    { body: {} },
    json(200, geminiUsage(200)),
    GEMINI_TOKENS,
    GEMINI_USD,
  ],
  [
    'Gemini stream of events',
    'gemini',
    `${FLASH}:streamGenerateContent?alt=sse`,
    { body: {} },
    sse([event(geminiUsage(10)), event(geminiUsage(200))]),
    GEMINI_TOKENS,
    GEMINI_USD,
  ],
  [
    'Gemini stream that is one list',
    'gemini',
    `${FLASH}:streamGenerateContent`,
    { body: {} },
    json(200, [geminiUsage(10), geminiUsage(200)]),
    GEMINI_TOKENS,
    GEMINI_USD,
  ],
  [
    'prompt at the long-context threshold',
    'gemini',
    PRO,
    { body: {} },
    json(200, proPrompt(200_000)),
    { input: 200_000, output: 10 },
    0.2501,
  ],
  [
    'prompt one token above it',
    'gemini',
    PRO,
    { body: {} },
    json(200, proPrompt(200_001)),
    { input: 200_001, output: 10 },
    0.5001525,
  ],
  [
    'audio sold by the minute',
    'openai',
    TRANSCRIPTIONS,
    form('whisper-1'),
    json(200, { usage: { type: 'duration', seconds: 91 } }),
    {},
    0.0091,
  ],
  [
    'audio sold by the hour',
    'groq',
    'openai/v1/audio/transcriptions',
    form('whisper-large-v3'),
    json(200, { duration: 3600 }),
    {},
    0.111,
  ],
  [
    'audio whose cost is not a whole nano-dollar',
    'xai',
    'v1/stt',
    form('grok-transcribe'),
    json(200, { duration: 60 }),
    {},
    0.001666667,
  ],
  [
    'audio sold by the minute, told as the duration of the recording',
    'openai',
    TRANSCRIPTIONS,
    form('whisper-1'),
    json(200, { task: 'transcribe', duration: 90.5, text: 'a', segments: [{ start: 0, end: 90.5 }] }),
    {},
    0.00905,
  ],
  [
    'audio sold by tokens, in a stream',
    'openai',
    TRANSCRIPTIONS,
    form('gpt-4o-mini-transcribe'),
    sse([
      event({ type: 'transcript.text.delta', delta: 'a' }),
      event({
        type: 'transcript.text.done',
        text: 'a',
        usage: { type: 'tokens', input_tokens: 100, output_tokens: 10 },
      }),
    ]),
    { input: 100, output: 10 },
    0.000175,
  ],
  [
    'audio sold by tokens of two kinds',
    'openai',
    TRANSCRIPTIONS,
    form('gpt-4o-mini-transcribe'),
    json(200, { usage: { input_tokens: 100, input_token_details: { audio_tokens: 80 }, output_tokens: 10 } }),
    { input: 100, output: 10 },
    0.000315,
  ],
];

describe('tokens and cost of an answer', () => {
  it.each(ANSWERS)(
    '%s → one event with its tokens and its exact cost',
    async (_name, type, path, call, script, tokens, usd) => {
      const client = await ProxyClient.create(world, { provider: { type } });
      world.upstream.script(script);
      expect((await client.call(path, call)).status).toBe(200);
      const { input = 0, cached = 0, written = 0, output = 0 } = tokens;
      expect(await client.events()).toMatchObject([
        {
          provider: type,
          route: `${client.slug}/${path.split('?')[0]}`,
          input_tokens: input,
          cached_input_tokens: cached,
          cache_write_tokens: written,
          output_tokens: output,
          cost_usd: usd,
          reported_cost_usd: null,
          cost_source: 'computed',
          status: 'ok',
          client_aborted: null,
        },
      ]);
      expect(world.logs.filter(({ level }) => level === 'error')).toEqual([]);
    },
  );

  it('a custom price → replaces the whole catalog price, exact to the nano-dollar', async () => {
    const pricing = { 'gpt-4.1': { input: 0.123456789, output: 1 } };
    const client = await ProxyClient.create(world, { provider: { pricing } });
    world.upstream.script(json(200, { usage: { ...responsesUsage, input_tokens: 207, output_tokens: 3 } }));
    await client.call(RESPONSES, { body: GPT });
    // 207 × 123.456789 and 3 × 1000 nano-dollars; tokens from the cache have no price of their own any more.
    expect(await client.events()).toMatchObject([{ cached_input_tokens: 200, input_tokens: 7, cost_usd: 0.000028556 }]);
  });

  it.each<[string, string, string, object, object, object]>([
    [
      'openrouter',
      CHAT,
      'lab/model',
      { model: 'lab/model', provider: 'Host', usage: { ...chatUsage, cost: 0.0123 } },
      { cost_usd: 0.0123, reported_cost_usd: 0.0123, model_author: 'lab', served_provider: 'Host' },
      { served_model: 'lab/model' },
    ],
    ['openrouter', CHAT, 'lab/free', { usage: { ...chatUsage, cost: 0 } }, { cost_usd: 0, reported_cost_usd: 0 }, {}],
    [
      'xai',
      RESPONSES,
      'grok-4.5',
      { usage: { ...responsesUsage, cost_in_usd_ticks: 12_345_678 } },
      { cost_usd: 0.001234568 },
      {},
    ],
  ])('%s on %s for %s that reports its own cost → that cost', async (type, path, model, answer, cost, more) => {
    const client = await ProxyClient.create(world, { provider: { type } });
    world.upstream.script(json(200, answer));
    await client.call(path, { body: { model } });
    expect(await client.events()).toMatchObject([{ cost_source: 'reported', input_tokens: 1000, ...cost, ...more }]);
  });
});
