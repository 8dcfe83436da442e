import { describe, expect, it } from '@jest/globals';
import { validateTranscriptionFormat as validate } from '../body/cost-members.rules.js';

describe('transcription format', () => {
  it.each([undefined, 'json', 'verbose_json', 'diarized_json'])('openai: %p → as sent', (format) => {
    expect(validate('openai', format)).toEqual({});
  });

  it.each(['groq', 'together'] as const)('%s: no format or json → verbose_json, which is kept', (type) => {
    expect([validate(type, undefined), validate(type, 'json'), validate(type, 'verbose_json')]).toEqual([
      { set: 'verbose_json' },
      { set: 'verbose_json' },
      {},
    ]);
  });

  it.each([
    ['openai', 'text'],
    ['openai', 'srt'],
    ['mistral', 'vtt'],
    ['openai', ''],
    ['groq', 'text'],
    ['together', 'diarized_json'],
  ] as const)('%s: %p → 400', (type, format) => {
    expect(() => validate(type, format)).toThrow('response_format: cannot be priced');
  });

  it('xai: any format → as sent', () => {
    expect([validate('xai', 'text'), validate('xai', undefined)]).toEqual([{}, {}]);
  });
});
