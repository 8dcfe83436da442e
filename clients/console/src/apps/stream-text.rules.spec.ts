import { describe, expect, it } from '@jest/globals';
import { EventSplitter, stagesOf, textOfEvent } from './stream-text.rules.js';

describe('the text of a stream', () => {
  it.each([
    ['{"choices":[{"delta":{"content":"Hi"}}]}', 'Hi'],
    ['{"type":"response.output_text.delta","delta":"Hi"}', 'Hi'],
    ['{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}', 'Hi'],
    ['{"choices":[{"delta":{"role":"assistant"}}]}', ''],
    ['[DONE]', ''],
    ['null', ''],
  ])('%s → %j', (data, text) => expect(textOfEvent(data)).toBe(text));

  it('events split anywhere → each once and complete', () => {
    const stream = 'event: a\r\ndata: {"n":1}\r\n\r\n: comment\n\ndata: [DONE]\n\n';
    for (let cut = 0; cut < stream.length; cut++) {
      const splitter = new EventSplitter();
      const events = [...splitter.take(stream.slice(0, cut)), ...splitter.take(stream.slice(cut))];
      // A cut inside \r\n\r\n shows no event before its end.
      expect(events.filter((data) => data !== '')).toEqual(['{"n":1}', '[DONE]']);
    }
  });

  it('a lost connection → reading resumes after the last complete event, counted in bytes without the comments of the gateway', () => {
    const splitter = new EventSplitter();
    const first = 'data: {"é":"✓"}\n\n';
    splitter.take(`${first}: gateway\n\n: other\n\ndata: half`);
    expect(splitter.offset).toBe(Buffer.byteLength(`${first}: other\n\n`));
    splitter.restart();
    expect(splitter.take('data: half an event\n\n')).toEqual(['half an event']);
  });

  it('stages of Server-Timing', () => {
    expect(stagesOf('auth;dur=0.12, provider_ttfb;desc="x";dur=83.4, cache')).toEqual([
      { name: 'auth', ms: 0.12 },
      { name: 'provider_ttfb', ms: 83.4 },
    ]);
    expect(stagesOf(null)).toEqual([]);
  });
});
