import { describe, expect, it } from '@jest/globals';
import { classifyPath } from './api-style.rules.js';
import { capStyleFor, capStyleOfExtraPath } from './path-policy.rules.js';
import { dialectOf } from './provider-dialect.js';
import { isProviderType, PROVIDER_TYPES } from './provider-types.js';

describe('isProviderType', () => {
  it('every declared type → true', () => {
    expect(PROVIDER_TYPES.every(isProviderType)).toBe(true);
    expect(PROVIDER_TYPES).toHaveLength(16);
  });

  it.each(['OpenAI', 'toString', '__proto__', '', 7, null, undefined, ['openai']])('%p → false', (value) => {
    expect(isProviderType(value)).toBe(false);
  });
});

describe('dialectOf', () => {
  it.each(PROVIDER_TYPES)('%s → https base with one closing slash, its own type, one shared object', (type) => {
    const dialect = dialectOf(type);
    expect(dialect.type).toBe(type);
    expect(dialect.baseUrl).toMatch(/^https:\/\/[a-z0-9.-]+\/(?:[a-z0-9]+\/)*$/);
    expect(dialectOf(type)).toBe(dialect);
    expect(Object.isFrozen(dialect)).toBe(true);
  });

  it.each([
    ['openai', 'authorization', 'Bearer sk-1'],
    ['anthropic', 'x-api-key', 'sk-1'],
    ['gemini', 'x-goog-api-key', 'sk-1'],
    ['openrouter', 'authorization', 'Bearer sk-1'],
  ] as const)('%s credential → header %s: %s', (type, header, value) => {
    expect(dialectOf(type).credentialHeader).toBe(header);
    expect(dialectOf(type).credentialValue('sk-1')).toBe(value);
  });

  it('extra headers → only the marketplace asks for its metadata', () => {
    const withExtras = PROVIDER_TYPES.filter((type) => dialectOf(type).extraHeaders.length > 0);
    expect(withExtras).toEqual(['openrouter']);
    expect(dialectOf('openrouter').extraHeaders).toEqual([['x-openrouter-metadata', 'enabled']]);
  });

  it('probes → one per type, none for four types', () => {
    const probes = Object.fromEntries(PROVIDER_TYPES.map((type) => [type, dialectOf(type).probe?.path ?? null]));
    expect(probes).toEqual({
      openai: 'v1/models',
      anthropic: 'v1/models',
      xai: 'v1/models',
      gemini: 'v1beta/models',
      perplexity: null,
      deepseek: 'models',
      groq: 'openai/v1/models',
      mistral: 'v1/models',
      together: 'v1/models',
      fireworks: null,
      cerebras: 'v1/models',
      moonshot: 'v1/models',
      huggingface: null,
      baseten: 'v1/models',
      bytedance: null,
      openrouter: 'v1/key',
    });
    expect(dialectOf('anthropic').probe?.headers).toEqual([['anthropic-version', '2023-06-01']]);
  });

  it('named endpoints → offered by two types, each with its own transcription path', () => {
    const capable = PROVIDER_TYPES.filter((type) => dialectOf(type).endpointStyles.size > 0);
    expect(capable).toEqual(['openai', 'xai']);
    expect(dialectOf('openai').endpointStyles.get('transcription')).toBe('v1/audio/transcriptions');
    expect(dialectOf('xai').endpointStyles.get('transcription')).toBe('v1/stt');
    expect(dialectOf('xai').endpointStyles.get('responses')).toBe('v1/responses');
  });

  it('reported cost → openrouter on chat completions; xai except messages and transcription', () => {
    expect(dialectOf('openrouter').reportsCost('chat_completions')).toBe(true);
    expect(dialectOf('openrouter').reportsCost('responses')).toBe(false);
    expect(dialectOf('xai').reportsCost('other')).toBe(true);
    expect(dialectOf('xai').reportsCost('anthropic_messages')).toBe(false);
    expect(dialectOf('xai').reportsCost('audio_transcription')).toBe(false);
    expect(dialectOf('openai').reportsCost('responses')).toBe(false);
  });

  it.each([
    ['openai', 'v1/responses/input_tokens'],
    ['openai', 'v1/moderations'],
    ['anthropic', 'v1/messages/count_tokens'],
    ['gemini', 'v1alpha/models/gemini-2.5-flash:countTokens'],
  ] as const)('%s %s → costs nothing', (type, path) => {
    expect(dialectOf(type).isFree(path)).toBe(true);
  });

  it.each([
    ['openai', 'v1/responses'],
    ['openai', 'v1/embeddings'],
    ['openai', 'v1/responses/input_tokens/'],
    ['openai', 'v1/responses/compact'],
    ['mistral', 'v1/moderations'],
    ['anthropic', 'v1/messages'],
    ['gemini', 'v1/models/a/b:countTokens'],
    ['gemini', 'v1/models/g:generateContent'],
    ['gemini', 'x/v1/models/g:countTokens'],
  ] as const)('%s %s → costs', (type, path) => {
    expect(dialectOf(type).isFree(path)).toBe(false);
  });

  it('model author → the laboratory, the namespace, or none', () => {
    expect(dialectOf('gemini').modelAuthor('gemini-2.5-pro')).toBe('Google');
    expect(dialectOf('groq').modelAuthor('llama-4')).toBeNull();
    expect(dialectOf('openrouter').modelAuthor('anthropic/claude-sonnet-5')).toBe('anthropic');
    expect(dialectOf('openrouter').modelAuthor('auto')).toBeNull();
    expect(dialectOf('openrouter').modelAuthor('/x')).toBeNull();
    expect(dialectOf('openrouter').modelAuthor(`${'a'.repeat(65)}/x`)).toBeNull();
  });

  it('chat ceiling member → max_completion_tokens only for openai', () => {
    const modern = PROVIDER_TYPES.filter((type) => dialectOf(type).capFieldForChat === 'max_completion_tokens');
    expect(modern).toEqual(['openai']);
  });

  it('API styles → all of them, but only chat completions on openrouter', () => {
    expect(dialectOf('openrouter').apiStyles).toEqual(['chat_completions']);
    expect(dialectOf('groq').apiStyles).toHaveLength(7);
  });
});

describe('capStyleFor', () => {
  it.each([
    ['xai', 'v1/messages', undefined, 'anthropic'],
    ['anthropic', 'v1/chat/completions', undefined, 'chat_completions'],
    ['openai', 'v1/stt', undefined, 'none'],
    ['openai', 'v1/unknown', undefined, 'responses'],
    ['groq', 'v1/unknown', undefined, 'chat_completions'],
    ['gemini', 'v1/unknown', undefined, 'gemini_native'],
    ['openai', 'v1/responses', 'none', 'none'],
    ['openai', 'v1/audio/chat/completions', undefined, 'chat_completions'],
    ['openai', 'v1/embeddings', 'responses', 'responses'],
  ] as const)('%s %s with clamp %p → %s', (type, path, clamp, expected) => {
    expect(capStyleFor(dialectOf(type), classifyPath(path), clamp, path)).toBe(expected);
  });

  it.each([
    'v1/embeddings',
    'openai/v1/embeddings',
    'embeddings/multimodal',
    'v1/contextualizedembeddings',
    'v1beta/models/gemini-embedding-001:embedContent',
    'v1beta/models/gemini-embedding-001:batchEmbedContents',
    'v1beta/models/gemini-2.5-flash:countTokens',
    'v1/messages/count_tokens',
    'v1/responses/input_tokens',
    'v1/moderations',
    'v1/chat/moderations',
    'v1/rerank',
    'v1/images/generations',
    'v1/images/edits',
    'v1beta/models/imagen-4.0:predict',
    'v1/videos',
    'v1/audio/speech',
    'v1/tts',
    'v1/ocr',
    'v1/responses/compact',
  ])('listed path %s takes no ceiling → none, whatever dialect the type has', (path) => {
    for (const type of PROVIDER_TYPES) {
      expect([type, capStyleFor(dialectOf(type), classifyPath(path), undefined, path)]).toEqual([type, 'none']);
    }
  });

  it.each([
    ['beta/completions', 'chat_completions'],
    ['inference/v1/responses', 'responses'],
    ['v1/agent', 'responses'],
    ['anthropic/v1/messages', 'anthropic'],
    ['v1/embeddings', 'none'],
    ['v1beta/models/{model}:embedContent', 'none'],
  ])('default path %s → %s', (path, expected) => {
    expect(capStyleOfExtraPath(path)).toBe(expected);
  });
});
