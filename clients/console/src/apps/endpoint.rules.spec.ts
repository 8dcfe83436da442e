import { describe, expect, it } from '@jest/globals';
import { problemOfName, withStyle } from './endpoint.rules';

describe('problemOfName', () => {
  it.each([
    ['', 'Name it first.'],
    ['taken', 'An endpoint with this name already exists.'],
    ['With space', 'Use 1 to 64 lower-case letters, digits and dashes.'],
    ['a'.repeat(65), 'Use 1 to 64 lower-case letters, digits and dashes.'],
    ['free-1', undefined],
  ])('"%s" → %s', (name, problem) => {
    expect(problemOfName(name, ['taken'])).toBe(problem);
  });
});

describe('withStyle', () => {
  it('transcription → targets stay, parameters are removed', () => {
    const fallback = [{ provider: 'second', model: 'm' }];
    const endpoint = {
      api_style: 'responses',
      provider: 'openai',
      model: 'gpt',
      params: { top_p: 1 },
      fallback,
    } as const;
    expect(withStyle({ ...endpoint, fallback }, 'transcription')).toEqual({
      ...{ api_style: 'transcription', provider: 'openai', model: 'gpt', fallback },
    });
  });
});
