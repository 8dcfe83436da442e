import { describe, expect, it } from '@jest/globals';
import { eventOfReply, messagesOf, type Reply, type Turn } from './playground.rules';

const ARRIVING = 0;
const reply = (text: string, status = 200, model = 'a'): Reply => ({
  ...{ target: { slug: 'openai', model }, text, stages: [] },
  ...(status === ARRIVING ? {} : { status }),
});
const turn = (message: string, ...replies: Reply[]): Turn => ({ message, afterId: 0, replies });

describe('messagesOf', () => {
  it('each column → its own conversation', () => {
    const turns = [turn('Hello', reply('Hi'), reply('Good day'))];
    expect(messagesOf(turns, 0, 'And?').map(({ content }) => content)).toEqual(['Hello', 'Hi', 'And?']);
    expect(messagesOf(turns, 1, 'And?').map(({ content }) => content)).toEqual(['Hello', 'Good day', 'And?']);
  });

  it('refused, unfinished, empty and missing answers → left out with their messages; roles alternate', () => {
    const turns = [
      turn('1', reply('no', 429)),
      turn('2', reply('part', ARRIVING)),
      turn('3', reply('')),
      turn('4'),
      turn('5', reply('yes')),
    ];
    expect(messagesOf(turns, 0, '6').map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });
});

describe('eventOfReply', () => {
  const event = (id: number, model: string, provider_slug = 'openai', api_key_id = 'key') =>
    ({ id, model, provider_slug, api_key_id }) as never;
  const pick = (events: never[], models: string[], column: number, keyId?: string) =>
    eventOfReply(
      events,
      models.map((model) => reply('', 200, model)),
      column,
      { afterId: 10, keyId },
    )?.id;

  it('two models of one provider → each gets its own event, in whatever order they were recorded', () => {
    const events = [event(12, 'a'), event(11, 'b')];
    expect([pick(events, ['a', 'b'], 0), pick(events, ['a', 'b'], 1)]).toEqual([12, 11]);
  });

  it('a rewritten model → the event that the other model does not have', () => {
    const events = [event(11, 'a'), event(12, 'b-real')];
    expect([pick(events, ['a', 'b'], 0), pick(events, ['a', 'b'], 1)]).toEqual([11, 12]);
  });

  it('only the other model is recorded so far → none; older events, and those of other keys and providers → none', () => {
    expect(pick([event(11, 'a')], ['a', 'b'], 1)).toBeUndefined();
    expect(pick([event(10, 'a')], ['a'], 0)).toBeUndefined();
    expect(pick([event(11, 'a', 'openai', 'other')], ['a'], 0, 'key')).toBeUndefined();
    expect(pick([event(11, 'a', 'anthropic')], ['a'], 0)).toBeUndefined();
  });
});
