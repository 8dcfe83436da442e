import { describe, expect, it } from '@jest/globals';
import { API_STYLES, type ApiStyle } from '../api-style.rules.js';
import { createUsageReader } from './usage-reader.js';

function failureOf(answer: string | object, style: ApiStyle = 'responses') {
  const isStream = typeof answer === 'string';
  const contentType = isStream ? 'text/event-stream' : 'application/json';
  const bytes = Buffer.from(isStream ? answer : JSON.stringify(answer));
  const whole = createUsageReader({ style, type: 'openai', reportsCost: false, contentType });
  whole.push(bytes);
  const pieces = createUsageReader({ style, type: 'openai', reportsCost: false, contentType });
  for (const byte of bytes) pieces.push(Buffer.of(byte));
  const failure = whole.finish()?.failure;
  expect(pieces.finish()?.failure).toBe(failure);
  return failure;
}

const event = (data: object, name?: string) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const error = { code: 'server_error', message: 'no' };
const created = event({ type: 'response.created', response: { id: 'r', error: null, output: [] } });
const delta = event({ type: 'response.output_text.delta', delta: 'x' });
const role = event({ choices: [{ delta: { role: 'assistant', content: '' } }] });
const word = event({ choices: [{ delta: { content: 'an "error" in words' } }] });

describe('errors inside answers with a successful status', () => {
  it.each<[string, string, string | undefined]>([
    ['a failed response at once', created + event({ type: 'response.failed', response: { error } }), 'before_content'],
    ['a failed response later', created + delta + event({ type: 'response.failed', response: {} }), 'after_content'],
    ['an error event', created + event({ type: 'error', ...error }), 'before_content'],
    ['an event that is an error by its name', created + delta + event({ message: 'no' }, 'error'), 'after_content'],
    ['an error instead of a chunk', role + event({ error }), 'before_content'],
    ['an error beside a chunk', role + word + event({ error, choices: [{ finish_reason: 'error' }] }), 'after_content'],
    [
      'a choice that ended in an error',
      role + word + event({ choices: [{ finish_reason: 'error' }] }),
      'after_content',
    ],
    [
      'Anthropic, before a block',
      event({ type: 'message_start', message: {} }) + event({ type: 'error', error }, 'error'),
      'before_content',
    ],
    [
      'Anthropic, in a block',
      event({ type: 'content_block_delta', delta: {} }) + event({ type: 'error', error }),
      'after_content',
    ],
    ['Gemini', event({ candidates: [{ content: { parts: [{ text: 'a' }] } }] }) + event({ error }), 'after_content'],
    ['none', created + delta + event({ type: 'response.completed', response: { error: null } }), undefined],
    [
      'none, but words and items about one',
      role + word + event({ type: 'response.output_item.done', item: { error } }),
      undefined,
    ],
  ])('stream: %s', (_name, stream, failure) => {
    for (const style of API_STYLES) expect(failureOf(stream, style)).toBe(failure);
  });

  it.each<[object, string | undefined]>([
    [{ error }, 'before_content'],
    [{ type: 'error', error }, 'before_content'],
    [{ object: 'response', status: 'failed', error, output: [] }, 'before_content'],
    [{ object: 'response', status: 'failed', output: [{ type: 'message' }] }, 'after_content'],
    [{ choices: [{ finish_reason: 'error', message: { content: 'par' } }] }, 'after_content'],
    [{ object: 'response', status: 'completed', error: null, output: [{ type: 'message' }] }, undefined],
    [{ object: 'response', status: 'incomplete', output: [] }, undefined],
    [{ choices: [{ finish_reason: 'stop', message: { content: '"error"' } }] }, undefined],
    [[{ candidates: [{ content: { parts: [{ text: 'a' }] } }] }, { error }], 'after_content'],
  ])('document %j → %s', (document, failure) => {
    expect(failureOf(document)).toBe(failure);
  });

  it('comments and pings before an error → no content; many events of an unknown kind → content', () => {
    const idle = `: working\n\n${event({ type: 'ping' })}`.repeat(50);
    expect(failureOf(idle + event({ error }))).toBe('before_content');
    expect(failureOf(event({ sound: 'x' }).repeat(50) + event({ error }))).toBe('after_content');
  });

  it('a long first event → judged by its event type', () => {
    const long = event({ type: 'response.created', response: { instructions: 'x'.repeat(200_000), error: null } });
    expect(failureOf(long + event({ type: 'error', ...error }))).toBe('before_content');
  });
});
