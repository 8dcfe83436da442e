import { describe, expect, it } from '@jest/globals';
import { REQUEST_NAMES } from '../json/checked-members.js';
import { scanJson } from '../json/json-scan.js';
import { readRequestFacts } from './request-facts.rules.js';

function facts(text: string) {
  return readRequestFacts(scanJson(Buffer.from(text), REQUEST_NAMES));
}

describe('request facts', () => {
  it.each([
    ['{}', { model: undefined, stream: false, includeUsage: undefined, hasStreamOptions: false }],
    ['{"model":"g\\u0070t","stream":true}', { model: 'gpt', stream: true }],
    ['{"stream":null,"stream_options":null}', { stream: false, includeUsage: undefined, hasStreamOptions: false }],
    ['{"stream_options":{"include_usage":false}}', { includeUsage: false, hasStreamOptions: true }],
    ['{"stream_options":{"include_usage":null}}', { includeUsage: undefined, hasStreamOptions: true }],
    ['{"stream_options":{"include_usage":true}}', { includeUsage: true }],
  ])('%s → %p', (text, expected) => {
    expect(facts(text)).toMatchObject(expected);
  });

  it.each([
    ['{"model":""}', 'model: must be a non-empty string'],
    ['{"model":null}', 'model: must be'],
    ['{"model":["a"]}', 'model: must be'],
    [`{"model":"${'x'.repeat(1024)}"}`, 'model: longer than 1024 bytes'],
    ['{"stream":"true"}', 'stream: must be true or false'],
    ['{"stream":1}', 'stream: must be'],
    ['{"stream_options":[]}', 'stream_options: must be an object'],
    ['{"stream_options":{"include_usage":1}}', 'stream_options.include_usage: must be'],
  ])('%s → refused, saying %p', (text, message) => {
    expect(() => facts(text)).toThrow(message);
  });
});
