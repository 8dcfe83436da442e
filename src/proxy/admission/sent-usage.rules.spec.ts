import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { FormPart } from '../forms/multipart-form.js';
import { REQUEST_NAMES } from '../json/checked-members.js';
import { scanJson } from '../json/json-scan.js';
import { boundsOfForm, boundsOfJson } from './max-usage.rules.js';
import { seenOutputTokens, sentByForm, sentByJson } from './sent-usage.rules.js';

const NOTHING_ELSE = { hostedTools: [], modelTokens: undefined, namesKept: false };

function sentBy(text: string) {
  const scan = scanJson(Buffer.from(text), REQUEST_NAMES);
  return sentByJson(scan, boundsOfJson(scan, { maxTokens: 1, choices: 1 }, NOTHING_ELSE));
}

const part = (bytes: number, fileName?: string): FormPart => ({
  ...{ name: 'x', fileName, contentType: undefined, content: Buffer.alloc(bytes), asSent: Buffer.alloc(0) },
});

describe('estimated input of a request (ADR 0007)', () => {
  it('text → one token per 4 bytes', () => {
    expect(sentBy(JSON.stringify({ input: 'x'.repeat(4_000) }))).toEqual({ inputTokens: 1_003, audioSeconds: 0 });
  });

  it('pictures and recordings → 1 000 tokens each, not their bytes', () => {
    const picture = { image_url: { url: `data:image/png;base64,${'A'.repeat(400_000)}` } };
    const { inputTokens } = sentBy(JSON.stringify({ messages: [picture, picture] }));
    expect([inputTokens > 2_000, inputTokens < 2_100]).toEqual([true, true]);
    expect(sentBy('{"images":["AAAA","AAAA"]}').inputTokens).toBe(1_007);
  });

  it('a form → texts by bytes, recordings by length, other files as media', () => {
    const bounds = boundsOfForm(400_000, [], true);
    expect(sentByForm([part(40), part(320_000, 'a.mp3')], true, bounds)).toEqual({
      inputTokens: 650,
      audioSeconds: 20,
    });
    const pictures = boundsOfForm(400_000, [], false);
    expect(sentByForm([part(40), part(320_000, 'a.png')], false, pictures)).toEqual({
      ...{ inputTokens: 1_010, audioSeconds: 0 },
    });
  });

  it('any request → never more than it can use', () => {
    const json = fc.object({ key: fc.constantFrom('input', 'url', 'image_url', 'images', 'data', 'model') });
    fc.assert(
      fc.property(json, (body) => {
        const scan = scanJson(Buffer.from(JSON.stringify(body)), REQUEST_NAMES);
        const bounds = boundsOfJson(scan, { maxTokens: 1, choices: 1 }, NOTHING_ELSE);
        const sent = sentByJson(scan, bounds);
        expect(sent.inputTokens).toBeLessThanOrEqual(bounds.inputTokens);
        expect(sent.audioSeconds).toBeLessThanOrEqual(bounds.audioSeconds);
        expect(sent.inputTokens).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('estimated output of an answer without usage (ADR 0007)', () => {
  it.each([
    ['application/json', 4_000, 1_000],
    ['', 4_001, 1_001],
    ['text/event-stream; charset=utf-8', 6_400, 100],
    ['audio/mpeg', 16_000, 16],
    ['image/png', 0, 0],
  ])('%s of %i bytes → %i tokens', (contentType, bytes, tokens) => {
    expect(seenOutputTokens(contentType, bytes)).toBe(tokens);
  });
});
