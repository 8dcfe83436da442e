import { describe, expect, it } from '@jest/globals';
import type { FormPart } from '../forms/multipart-form.js';
import { REQUEST_NAMES } from '../json/checked-members.js';
import { scanJson } from '../json/json-scan.js';
import { boundsOfForm, boundsOfJson } from './max-usage.rules.js';

const DEFAULT = 131_072;
const output = (maxTokens: number | undefined, choices = 1) => ({ maxTokens, choices });

function boundsOf(text: string, checked = output(100), hostedTools: readonly string[] = [], modelTokens?: number) {
  return boundsOfJson(scanJson(Buffer.from(text), REQUEST_NAMES), checked, {
    hostedTools,
    modelTokens,
    namesKept: false,
  });
}

const part = (content: string, fileName?: string): FormPart => ({
  ...{ name: 'x', fileName, contentType: undefined, content: Buffer.from(content), asSent: Buffer.alloc(0) },
});

describe('the most a JSON request can use', () => {
  it('text → one token per byte, the output ceiling in force, one second per 1 000 bytes', () => {
    const text = JSON.stringify({ input: 'é'.repeat(1_000) });
    expect(boundsOf(text)).toEqual({ inputTokens: 2_012, outputTokens: 100, audioSeconds: 2.012, searches: 0 });
  });

  it.each([
    ['a picture by its address', '{"input":[{"image_url":"https://a.test/x.png"}]}'],
    ['a picture by its address, in an object', '{"m":[{"image_url":{"url":"https://a.test/x.png"}}]}'],
    ['a picture in the body', '{"m":[{"source":{"type":"base64","data":"aGk="}}]}'],
    [
      'a document in the body, the name escaped',
      '{"m":[{"file":{"file\\u005fdata":"data:application/pdf;base64,aA"}}]}',
    ],
    ['pictures in a list', '{"images":["data:image/png;base64,aA"]}'],
    ['a file elsewhere', '{"contents":[{"fileData":{"fileUri":"https://a.test/x"}}]}'],
    ['an earlier response', '{"previous_response_id":"resp_1"}'],
    ['a prompt of the endpoint’s own', '{"prompt":{"id":"pmpt_1"}}'],
  ])('%s → an additional 131 072 tokens and four hours', (_name, text) => {
    const { inputTokens, audioSeconds } = boundsOf(text);
    expect(inputTokens).toBe(Buffer.byteLength(text) + DEFAULT);
    expect(audioSeconds).toBeGreaterThanOrEqual(4 * 3_600);
  });

  it.each([
    ['no limit → what the model can generate, for each choice', output(undefined, 3), [], 3 * 4_096],
    ['more asked for than the model can → that', output(1_000_000, 2), [], 2 * 4_096],
    ['less asked for → that', output(50), [], 50],
    ['choices beyond all → as many as providers make', output(undefined, 1e6), [], 128 * 4_096],
    ['tools of the provider, which make it answer again → the default', output(undefined), ['web_search'], DEFAULT],
  ])('ADR 0017: a model with a known output limit of 4 096 tokens, %s', (_name, checked, hostedTools, outputTokens) => {
    expect(boundsOf('{}', checked, hostedTools, 4_096).outputTokens).toBe(outputTokens);
  });

  it('tools of the provider → they may add as much', () => {
    expect(boundsOf('{}', output(100), ['web_search']).inputTokens).toBe(2 + DEFAULT);
  });

  it.each([
    ['an address within a text', '{"input":"see https://a.test"}'],
    ['a prompt that is text', '{"prompt":"x"}'],
    ['an earlier response that is not named', '{"previous_response_id":null}'],
    ['a tool with a parameter of such a name', '{"tools":[{"parameters":{"properties":{"url":{"type":"string"}}}}]}'],
  ])('%s → nothing in addition', (_name, text) => {
    expect(boundsOf(text).inputTokens).toBe(Buffer.byteLength(text));
  });

  it.each([
    [undefined, 1, DEFAULT],
    [undefined, 3, 3 * DEFAULT],
    [7, 3, 7],
    [undefined, 1_000_000_000, 128 * DEFAULT],
    [Number.MAX_VALUE, 1, 128 * DEFAULT],
  ])('output limited to %p with %i choices → %i tokens', (maxTokens, choices, expected) => {
    expect(boundsOf('{}', output(maxTokens, choices)).outputTokens).toBe(expected);
  });
});

describe('the most a form can use', () => {
  it('a transcription → seconds and tokens derived from its bytes', () => {
    expect(boundsOfForm(60_000, [part('audio://', 'a.wav'), part('whisper-1')], true)).toEqual({
      inputTokens: 60_000,
      outputTokens: DEFAULT,
      audioSeconds: 60,
    });
  });

  it.each([
    ['a recording by its address', [part('https://a.test/x.mp3')], true],
    ['another form, whose files may be pictures', [part('x', 'a.png')], false],
  ])('%s → an additional 131 072 tokens and four hours', (_name, parts, isTranscription) => {
    expect(boundsOfForm(1_000, parts, isTranscription)).toEqual({
      inputTokens: 1_000 + DEFAULT,
      outputTokens: DEFAULT,
      audioSeconds: 1 + 14_400,
    });
  });
});
