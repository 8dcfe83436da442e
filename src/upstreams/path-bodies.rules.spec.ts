import { describe, expect, it } from '@jest/globals';
import { classifyPath, isModelList } from './api-style.rules.js';
import { bodyOfPath } from './path-policy.rules.js';
import { dialectOf } from './provider-dialect.js';
import { PROVIDER_TYPES } from './provider-types.js';

const bodyOf = (path: string) => bodyOfPath(classifyPath(path), path);

describe('bodyOfPath', () => {
  it.each([
    ['v1/responses', 'json'],
    ['openai/v1/chat/completions', 'json'],
    ['v1/messages', 'json'],
    ['v1/messages/count_tokens', 'json'],
    ['v1/responses/input_tokens', 'json'],
    ['v1/responses/compact', 'json'],
    ['v1beta/models/g:generateContent', 'json'],
    ['v1beta/models/g:batchEmbedContents', 'json'],
    ['v1/embeddings', 'json'],
    ['v1/moderations', 'json'],
    ['v1/images/generations', 'json'],
    ['v1/audio/speech', 'json'],
    ['v1/audio/transcriptions', 'form'],
    ['openai/v1/audio/translations', 'form'],
    ['v1/stt', 'form'],
    ['v1/images/variations', 'form'],
    ['v1/images/edits', 'either'],
    ['v1/files', 'either'],
    ['v1/whatever', 'either'],
  ])('%s → %s', (path, body) => {
    expect(bodyOf(path)).toBe(body);
  });

  it.each(PROVIDER_TYPES)(
    '%s → known for every default path with a body, except image edits and multimodal embeddings',
    (type) => {
      const withBody = dialectOf(type).inferencePaths.filter(
        (path) => !isModelList(path) && !path.includes('{object}'),
      );
      const unknown = withBody.filter((path) => bodyOf(path) === 'either');
      expect(['v1/images/edits', 'embeddings/multimodal']).toEqual(expect.arrayContaining(unknown));
    },
  );
});
