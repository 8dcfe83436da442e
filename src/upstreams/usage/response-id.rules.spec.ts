import { describe, expect, it } from '@jest/globals';
import { responseIdInDocumentHead, responseIdInEventHead, responseIdOf } from './answer-facts.rules.js';

describe('responseIdOf', () => {
  it.each([
    ['responses', { id: 'resp_1' }, 'resp_1'],
    ['responses', { id: 'event_1', response: { id: 'resp_1' } }, 'resp_1'],
    ['responses', { id: 'event_1', response: {} }, undefined],
    ['other', { id: 'x', object: 'response' }, 'x'],
    ['other', { id: 'x', object: 'embedding' }, undefined],
    ['chat_completions', { id: 'x', object: 'response' }, undefined],
    ['responses', { id: '' }, undefined],
    ['responses', { id: 'a"b' }, undefined],
    ['responses', { id: 'a\nb' }, undefined],
    ['responses', { id: 'x'.repeat(257) }, undefined],
    ['responses', { id: 7 }, undefined],
  ] as const)('%s %j → %p', (style, document, id) => {
    expect(responseIdOf(style, document)).toBe(id);
  });
});

describe('response id in a truncated text', () => {
  it.each([
    ['data: {"type":"response.created","response": {"id" : "resp_1","inst', 'resp_1'],
    ['data: {"response":{"object":"response","id":"resp_1"', undefined],
    ['data: {"response":{"id":"resp_', undefined],
    ['data: {"delta":"\\"response\\":{\\"id\\":\\"forged\\""', undefined],
  ])('event %s → %p', (head, id) => {
    expect(responseIdInEventHead(head)).toBe(id);
  });

  it.each([
    ['\n{ "id": "resp_1", "output": [{"id":"msg_1"', 'resp_1'],
    ['{"output":[{"id":"msg_1"', undefined],
  ])('document %s → %p', (head, id) => {
    expect(responseIdInDocumentHead(head)).toBe(id);
  });
});
