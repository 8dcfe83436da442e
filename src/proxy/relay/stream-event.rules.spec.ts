import { describe, expect, it } from '@jest/globals';
import { type EventMeaning, meaningOf } from './stream-event.rules.js';

/** The meaning of an event with this data, serialised as JSON unless it is a string. */
function meaning(data: unknown, name = ''): EventMeaning {
  return meaningOf(name, typeof data === 'string' ? data : JSON.stringify(data));
}

const added = (item: unknown) => ({ type: 'response.output_item.added', item });
const part = (content: unknown) => ({ type: 'response.content_part.added', part: content });

describe('events without content', () => {
  it.each<[string, unknown, name?: string]>([
    ['empty data', ''],
    ['response.created', { type: 'response.created', response: { id: 'r', error: null } }],
    ['response.queued', { type: 'response.queued' }],
    ['response.in_progress', { type: 'response.in_progress' }],
    ['a ping', { type: 'ping' }],
    ['a ping by name', '2026-07-30', 'ping'],
    ['a keepalive', { type: 'keepalive', sequence_number: 3 }, 'keepalive'],
    ['a type by name only', { response: {} }, 'response.created'],
    ['a type of null', { type: null, response: {} }, 'response.created'],
    ['an empty message', added({ type: 'message', content: [] })],
    ['a bare message', added({ type: 'message' })],
    ['a message with an empty text', added({ type: 'message', content: [{ type: 'output_text', text: '' }] })],
    [
      'reasoning that nobody can read',
      added({ type: 'reasoning', summary: [], content: null, encrypted_content: 'x' }),
    ],
    ['an empty text part', part({ type: 'output_text', text: '', annotations: [] })],
    ['an empty refusal', part({ type: 'refusal', refusal: '' })],
    ['an empty summary part', { type: 'response.reasoning_summary_part.added', part: { text: '' } }],
  ])('%s → contentless', (_name, data, name = '') => {
    expect(meaning(data, name)).toEqual({ kind: 'contentless' });
  });

  it('no data at all → no event, whatever its name', () => {
    expect(meaningOf('error', undefined)).toEqual({ kind: 'contentless' });
  });
});

describe('events with content', () => {
  it.each<[string, unknown, name?: string]>([
    ['a delta', { type: 'response.output_text.delta', delta: 'Hi' }],
    ['a delta of a transcription', { type: 'transcript.text.delta', delta: 'Hi' }],
    ['a chunk of the older format', { choices: [{ delta: { content: 'Hi' } }] }],
    ['the end', '[DONE]'],
    ['no JSON', 'hello'],
    ['half JSON', '{"type":"response.created"'],
    ['half JSON by name', '{"a":', 'response.created'],
    ['a list', [{ type: 'error' }]],
    ['a number', '7'],
    ['null', 'null'],
    ['an unknown type', { sequence_number: 1, type: 'response.image_generation_call.partial_image' }],
    ['a type that is not text', { type: { toString: 1 }, error: {} }],
    ['an inherited type', '{"__proto__":{"type":"error"}}'],
    ['a type in capitals', { type: 'ERROR' }],
    ['a complete answer', { type: 'response.completed', response: { error: null } }],
    ['an incomplete answer', { type: 'response.incomplete' }],
    ['a call of a tool', added({ type: 'function_call', name: 'f' })],
    ['no item', added(undefined)],
    ['a message that has begun', added({ type: 'message', content: [{ type: 'output_text', text: 'H' }] })],
    ['a message of another form', added({ type: 'message', content: 'H' })],
    ['reasoning that has begun', added({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'H' }] })],
    ['a part that has begun', part({ type: 'output_text', text: 'H' })],
    ['a refusal that has begun', part({ type: 'refusal', text: '', refusal: 'N' })],
    ['a part of another kind', part({ type: 'output_audio' })],
    ['no part', part(null)],
    ['a delta that calls itself a ping', { type: 'response.output_text.delta' }, 'ping'],
    ['an error that is null', { error: null, choices: [] }],
    ['an error beside a type', { type: 'response.output_text.done', error: {} }],
  ])('%s → content', (_name, data, name = '') => {
    expect(meaning(data, name)).toEqual({ kind: 'content' });
  });
});

describe('events that report a failure', () => {
  it.each<[string, unknown, name: string, failure: string]>([
    ['an error event', { type: 'error', code: 'server_error', message: 'No.' }, 'error', 'server_error'],
    ['an error by name, its data no JSON', 'overloaded', 'error', 'error'],
    ['an error by name, its data empty', '', 'error', 'error'],
    ['an error by name, its type another', { type: 'response.output_text.delta' }, 'error', 'error'],
    [
      'an error by type',
      { type: 'error', error: { type: 'rate_limit_exceeded', code: null } },
      '',
      'rate_limit_exceeded',
    ],
    ['an error whose type comes late', { message: 'x', type: 'error', code: 'server_error' }, '', 'server_error'],
    ['an error behind blanks', ' \t{ "type" : "error" }', '', 'error'],
    ['response.failed', { type: 'response.failed', response: { error: { code: 'server_error' } } }, '', 'server_error'],
    ['response.failed without a word', { type: 'response.failed' }, '', 'response.failed'],
    ['response.failed by name', { response: {} }, 'response.failed', 'response.failed'],
    ['an error of the second family', { code: 'The service is busy', error: 'busy' }, '', 'error'],
    ['its error as an object', { error: { code: 429, message: 'slow down' } }, '', '429'],
    ['a type of null beside an error', { type: null, error: { type: 'overloaded_error' } }, '', 'overloaded_error'],
  ])('%s → failed, with its code', (_name, data, name, failure) => {
    expect(meaning(data, name)).toEqual({ kind: 'failed', failure });
  });

  it.each(['sk-proj-Ab12', 'AIza9', 'Incorrect API key: x', 'x'.repeat(65), 'a\nb', '', 12_345, {}, null])(
    '%j instead of a code → not in the record',
    (code) => {
      expect(meaning({ type: 'error', code, error: { code, type: code } })).toEqual({
        kind: 'failed',
        failure: 'error',
      });
    },
  );
});
