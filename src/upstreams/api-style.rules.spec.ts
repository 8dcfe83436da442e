import { describe, expect, it } from '@jest/globals';
import { classifyPath, NAMED_STYLE_PATHS } from './api-style.rules.js';

describe('classifyPath', () => {
  it.each([
    ['v1/responses', 'responses'],
    ['openai/v1/responses', 'responses'],
    ['chat/completions', 'chat_completions'],
    ['v1/chat/completions', 'chat_completions'],
    ['openai/v1/chat/completions', 'chat_completions'],
    ['inference/v1/chat/completions', 'chat_completions'],
    ['v1beta/openai/chat/completions', 'chat_completions'],
    ['v1/messages', 'anthropic_messages'],
    ['v1/models/gemini-2.5-pro:generateContent', 'gemini_native'],
    ['v1beta/interactions', 'gemini_interactions'],
    ['v1alpha/interactions', 'gemini_interactions'],
    ['v1/interactions', 'gemini_interactions'],
    ['v1beta/interactions/int_1', 'other'],
    ['v1beta/interactions/int_1/cancel', 'other'],
    ['v1alpha/models/g:streamGenerateContent', 'gemini_native'],
    ['v1beta/models/g%20x:streamGenerateContent', 'gemini_native'],
    ['v1/audio/transcriptions', 'audio_transcription'],
    ['openai/v1/audio/translations', 'audio_transcription'],
    ['v1/stt', 'audio_transcription'],
  ])('%s → %s', (path, style) => {
    expect(classifyPath(path)).toBe(style);
  });

  it.each([
    'responses',
    'v1/Responses',
    '/v1/responses',
    'v1/responses/',
    'v1/%72esponses',
    'v2/models/g:generateContent',
    'v1/models/:generateContent',
    'v1/models/a/b:generateContent',
    'v1/models/g:embedContent',
    'v1/models:generateContent',
    'toString',
    '',
  ])('"%s" → other: only exact paths have a style', (path) => {
    expect(classifyPath(path)).toBe('other');
  });

  it('the listed paths → each has a named style', () => {
    expect(NAMED_STYLE_PATHS).toHaveLength(22);
    expect(NAMED_STYLE_PATHS.filter((path) => classifyPath(path) === 'other')).toEqual([]);
  });
});
