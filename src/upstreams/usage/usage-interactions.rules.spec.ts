import { describe, expect, it } from '@jest/globals';
import { createUsageReader } from './usage-reader.js';

const STEPS = [{ type: 'model_output', content: [{ type: 'text', text: 'Hi' }] }];
const COUNTS = { total_input_tokens: 100, total_output_tokens: 50, total_tokens: 150 };

function read(answer: object | string, more: { readonly keeps?: boolean } = {}) {
  const isStream = typeof answer === 'string';
  const reader = createUsageReader({
    ...{ style: 'gemini_interactions', type: 'gemini', reportsCost: false, ...more },
    contentType: isStream ? 'text/event-stream' : 'application/json',
  });
  // Two chunks, so that no event has to arrive whole.
  const bytes = Buffer.from(isStream ? answer : JSON.stringify(answer));
  reader.push(bytes.subarray(0, 40));
  reader.push(bytes.subarray(40));
  return reader.finish();
}

const interaction = (usage: object, more: object = {}) => ({
  ...{ id: 'int_1', object: 'interaction', status: 'completed', steps: STEPS, usage, ...more },
});
const event = (event_type: string, data: object) =>
  `event: ${event_type}\ndata: ${JSON.stringify({ event_type, ...data })}\n\n`;
const created = event('interaction.created', { interaction: { id: 'int_1', status: 'in_progress' } });
const started = (step: object) => event('step.start', { index: 0, step });
const delta = event('step.delta', { index: 0, delta: { type: 'text', text: 'Hi' } });
const completed = (usage: object, more: object = {}) =>
  event('interaction.completed', { interaction: { id: 'int_1', status: 'completed', usage, ...more } });

describe('tokens of an interaction', () => {
  it('cached tokens → part of the input; thoughts and tool tokens → added to output and input', () => {
    const usage = {
      ...{ total_input_tokens: 100, total_cached_tokens: 40, total_output_tokens: 50, total_thought_tokens: 20 },
      ...{ total_tool_use_tokens: 10, total_tokens: 180 },
    };
    const counts = { inputTokens: 70, cachedInputTokens: 40, outputTokens: 70, reasoningTokens: 20 };
    expect(read(interaction(usage))).toMatchObject({ ...counts, usageSeen: true, unknownMeasure: undefined });
    expect(read(created + delta + completed(usage))).toMatchObject({ ...counts, unknownMeasure: undefined });
  });

  it('a total that leaves no room for thoughts → the output includes them', () => {
    const usage = { ...COUNTS, total_thought_tokens: 20 };
    expect(read(interaction(usage))).toMatchObject({ outputTokens: 50, reasoningTokens: 20 });
    expect(read(interaction({ ...usage, total_tokens: 170 }))).toMatchObject({ outputTokens: 70 });
    expect(read(interaction({ ...usage, total_tokens: undefined }))).toMatchObject({ outputTokens: 70 });
  });

  it('tokens by modality, in lower case → parts of their buckets', () => {
    const by = (modality: string, tokens: number) => ({ modality, tokens });
    const usage = {
      ...{ ...COUNTS, total_cached_tokens: 30 },
      input_tokens_by_modality: [by('text', 50), by('image', 20), by('audio', 30)],
      cached_tokens_by_modality: [by('audio', 10), by('text', 20)],
      output_tokens_by_modality: [by('text', 10), by('image', 40)],
    };
    expect(read(interaction(usage))).toMatchObject({
      ...{ inputTokens: 70, cachedInputTokens: 30, audioInputTokens: 20, audioCachedInputTokens: 10 },
      parts: { image_input: 20, text_output: 10, image_output: 40 },
      unknownMeasure: undefined,
    });
  });

  it.each<[string, object, object]>([
    ['tokens', { total_song_tokens: 9 }, { tokens: 9 }],
    ['tokens of the output', { total_reasoning_tokens: 9 }, { outputTokens: 9 }],
    ['a counter of another unit', { total_seconds: 3 }, { hasOtherUnit: true }],
    ['a total above its parts', { total_tokens: 160 }, { tokens: 10 }],
    ['nothing: zero', { total_song_tokens: 0 }, {}],
    ['nothing: the first turn is part of the input', { initial_input_tokens: 60 }, {}],
  ])('unknown %s → an unknown measure', (_what, counters, unknown) => {
    const nothing = { inputTokens: 0, outputTokens: 0, tokens: 0, hasOtherUnit: false };
    const expected = Object.keys(unknown).length === 0 ? undefined : { ...nothing, ...unknown };
    expect(read(interaction({ ...COUNTS, ...counters }))?.unknownMeasure).toEqual(expected);
  });

  it('no usage → none, not zero; a counter above a billion → not plausible', () => {
    expect(read(interaction({}))).toMatchObject({ usageSeen: false });
    expect(read(interaction({ ...COUNTS, total_thought_tokens: 2e9 }))).toMatchObject({ implausible: true });
  });

  it('a tier other than the standard one → reported, in whole and streamed answers', () => {
    const tier = { service_tier: 'priority' };
    expect(read(interaction(COUNTS, tier))?.otherTier).toBe('priority');
    expect(read(created + completed(COUNTS, tier))?.otherTier).toBe('priority');
    expect(read(interaction(COUNTS, { service_tier: 'standard' }))?.otherTier).toBeUndefined();
  });
});

describe('streams of interactions', () => {
  it('usage of a single step → may still grow; of the last event → final', () => {
    const step = event('step.stop', { index: 0, usage: COUNTS });
    expect(read(created + delta + step)).toMatchObject({ outputTokens: 50, isOpening: true });
    expect(read(created + delta + step + completed({ ...COUNTS, total_output_tokens: 60, total_tokens: 160 }))).toEqual(
      expect.objectContaining({ outputTokens: 60, isOpening: false }),
    );
    const running = event('interaction.status_update', {
      ...{ interaction_id: 'int_1', status: 'in_progress', usage: COUNTS },
    });
    expect(read(created + running)?.isOpening).toBe(true);
  });

  it('the id of the first event → the id of the interaction, even in a truncated stream', () => {
    expect(read(created)).toMatchObject({ usageSeen: false, responseId: 'int_1' });
    expect(read(created + completed(COUNTS))?.responseId).toBe('int_1');
    expect(read(event('interaction.status_update', { interaction_id: 'x', id: 'y' }))).toBeUndefined();
  });

  it('the id of a complete interaction of any size → read', () => {
    expect(read(interaction(COUNTS))?.responseId).toBe('int_1');
    const image = [{ type: 'model_output', content: [{ type: 'image', data: 'A'.repeat(2_000_000) }] }];
    const long = { created: 'now', ...interaction(COUNTS, { steps: image }) };
    expect(read(long, { keeps: true })).toMatchObject({ responseId: 'int_1', outputTokens: 50 });
  });
});

describe('tools of interactions', () => {
  const search = { id: 'c1', type: 'google_search_call', arguments: { queries: ['a', 'b'] } };
  const counted = { ...COUNTS, grounding_tool_count: [{ type: 'google_search', count: 2 }] };

  it.each<[string, object | string]>([
    ['whole', interaction(counted, { steps: [search, ...STEPS] })],
    ['streamed', created + started(search) + delta + completed(counted)],
  ])('searches that the provider counts, %s → these count, whatever the steps show', (_how, answer) => {
    expect(read(answer)).toMatchObject({ hostedToolCalls: 2, parts: { web_search: 2 } });
  });

  it.each<[string, object | string]>([
    ['whole', interaction(COUNTS, { steps: [search, ...STEPS] })],
    ['streamed', created + started(search) + delta + completed(COUNTS, { steps: [search] })],
  ])('searches that it does not count, %s → those of the steps count, each once', (_how, answer) => {
    expect(read(answer)).toMatchObject({ hostedToolCalls: 1, parts: { web_search: 1 } });
  });

  it('steps without a fee → no calls; maps, retrieval and unknown steps → calls with an unknown fee', () => {
    const free = ['code_execution', 'url_context', 'file_search', 'mcp_server_tool', 'function', 'processing'];
    const steps = free.map((type) => ({ id: type, type: `${type}_call` }));
    expect(read(interaction(COUNTS, { steps }))?.hostedToolCalls).toBe(0);
    expect(read(created + steps.map(started).join('') + completed(COUNTS))?.hostedToolCalls).toBe(0);
    const paid = ['google_maps', 'retrieval', 'future_thing'].map((type) => ({ id: type, type: `${type}_call` }));
    expect(read(interaction(COUNTS, { steps: paid }))?.hostedToolCalls).toBe(3);
    expect(read(created + paid.map(started).join('') + completed(COUNTS))?.hostedToolCalls).toBe(3);
    const maps = { ...COUNTS, grounding_tool_count: [{ type: 'google_maps', count: 4 }] };
    expect(read(interaction(maps))).toMatchObject({ hostedToolCalls: 4, parts: undefined });
  });

  it('a long step → counted from its head', () => {
    const long = { ...search, arguments: { queries: ['q'.repeat(100_000)] } };
    expect(read(created + started(long) + completed(COUNTS))?.hostedToolCalls).toBe(1);
  });
});

describe('errors inside answers of interactions', () => {
  const error = event('error', { error: { code: 'internal', message: 'no' } });
  const failed = completed(COUNTS, { status: 'failed' });

  it.each<[string, object | string, string | undefined]>([
    ['an error event before content', created + error, 'before_content'],
    ['an error event after content', created + delta + error, 'after_content'],
    ['a failed interaction before content', created + failed, 'before_content'],
    ['a failed interaction after content', created + delta + failed, 'after_content'],
    ['a failed document', interaction({}, { status: 'failed', steps: [] }), 'before_content'],
    ['a failed document with content', interaction({}, { status: 'failed' }), 'after_content'],
    ['the word in content', created + delta.replace('Hi', 'failed: \\"failed\\"') + completed(COUNTS), undefined],
    ['an action to take', interaction(COUNTS, { status: 'requires_action' }), undefined],
    ['an incomplete answer', interaction(COUNTS, { status: 'incomplete' }), undefined],
  ])('%s → %j', (_what, answer, failure) => {
    expect(read(answer)?.failure).toBe(failure);
  });
});
