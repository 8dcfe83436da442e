import { describe, expect, it } from '@jest/globals';
import { documentsOf, documentsOfEvent } from './usage-documents.rules.js';

const view = (head: string, tail?: string) => ({
  head: Buffer.from(head),
  tail: tail === undefined ? undefined : Buffer.from(tail),
});

describe('documentsOf', () => {
  it('whole JSON → itself; a list → its objects, the last one first; anything else → nothing', () => {
    expect(documentsOf(view('{"a":1}'))).toEqual([{ a: 1 }]);
    expect(documentsOf(view('[{"a":1},2,null,[],{"a":2}]'))).toEqual([{ a: 2 }, { a: 1 }]);
    expect(documentsOf(view('"text"'))).toEqual([]);
    expect(documentsOf(view('\u0000\ufffd'))).toEqual([]);
  });

  it('truncated JSON → its last values, preferring the tail to the head', () => {
    expect(documentsOf(view('{"usage":{"a":1},"x":[', '],"duration":4}'))).toEqual([
      { usage: undefined, usageMetadata: undefined, duration: 4 },
      { usage: { a: 1 }, usageMetadata: undefined, duration: undefined },
    ]);
  });
});

describe('documentsOfEvent', () => {
  it.each([
    ['event: x\r\nid: 7\r\ndata: {"a":1}\r\n\r\n'],
    ['data:{"a":1}\n\n'],
    ['data: {\n: comment\ndata: "a":1}\n\n'],
    ['{"a":1}'],
  ])('%j → its data', (event) => {
    expect(documentsOfEvent(view(event))).toEqual([{ a: 1 }]);
  });

  it.each(['data: [DONE]\n\n', ': ping\n\n', 'data\n\n', ''])('%j → nothing', (event) => {
    expect(documentsOfEvent(view(event))).toEqual([]);
  });

  it('tail of an event that spans several lines → read across them', () => {
    expect(documentsOfEvent(view('data: {', '"usage":\ndata: {"a":\ndata: 1}}\n\n'))).toMatchObject([
      { usage: { a: 1 } },
    ]);
  });
});
