import { describe, expect, it } from '@jest/globals';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import { REQUEST_NAMES } from '../json/checked-members.js';
import { applyEdits } from '../json/json-edit.js';
import { scanJson } from '../json/json-scan.js';
import { readRequestFacts, usageEdits } from './request-facts.rules.js';

function ask(text: string, style: ApiStyle = 'chat_completions', streamsUsage = false) {
  const body = scanJson(Buffer.from(text), REQUEST_NAMES);
  const { edits, withholdUsageChunk } = usageEdits(body, readRequestFacts(body), { style, streamsUsage });
  return { sent: applyEdits(body.bytes, edits).toString(), withholdUsageChunk };
}

describe('usage of streams', () => {
  it.each([
    ['{"stream":true}', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['{"stream":true,"stream_options":null}', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['{"stream":true,"stream_options":{ }}', '{"stream":true,"stream_options":{ "include_usage":true}}'],
    [
      '{"stream_options":{"x" : 1.0},"stream":true}',
      '{"stream_options":{"x" : 1.0,"include_usage":true},"stream":true}',
    ],
    [
      '{"stream":true,"stream_options":{"include_usage":false}}',
      '{"stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      '{"stream":true,"stream_options":{"include_usage":null}}',
      '{"stream":true,"stream_options":{"include_usage":true}}',
    ],
  ])('%s → requested from the provider, withheld from the client', (text, sent) => {
    expect(ask(text)).toEqual({ sent, withholdUsageChunk: true });
  });

  it.each([
    ['{"stream":true,"stream_options":{"include_usage":true}}', 'chat_completions'],
    ['{"stream":false}', 'chat_completions'],
    ['{}', 'chat_completions'],
    ['{"stream":true}', 'responses'],
    ['{"stream":true}', 'anthropic_messages'],
    ['{"stream":true}', 'other'],
  ] as const)('%s in style %s → unchanged', (text, style) => {
    expect(ask(text, style)).toEqual({ sent: text, withholdUsageChunk: false });
  });

  it('a type that sends usage without being asked → unchanged', () => {
    for (const text of ['{"stream":true}', '{"stream":true,"stream_options":{"include_usage":false}}']) {
      expect(ask(text, 'chat_completions', true)).toEqual({ sent: text, withholdUsageChunk: false });
    }
  });
});
