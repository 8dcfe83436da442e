import { describe, expect, it } from '@jest/globals';
import { callOf, reachOf } from './call.rules.js';

const selected = (reach: object) =>
  ({ routing: { providers: { mode: 'selected', selected: { openai: reach } }, model_rewrites: {} } }) as Parameters<
    typeof reachOf
  >[0];
const nothing = { allowed_paths: [], allowed_models: [] };

describe('a call of an application', () => {
  it('reaches a provider by its slug, else by its type, else none', () => {
    expect(reachOf(selected(nothing), { slug: 'openai', type: 'x' })).toEqual(nothing);
    expect(reachOf(selected(nothing), { slug: 'eu', type: 'openai' })).toEqual(nothing);
    expect(reachOf(selected(nothing), { slug: 'claude', type: 'anthropic' })).toBeUndefined();
  });

  it.each([
    [nothing, { path: 'v1/responses', model: undefined }],
    [
      { ...nothing, allowed_models: ['a', 'b'] },
      { path: 'v1/responses', model: 'a' },
    ],
    [
      { ...nothing, allowed_paths: ['v1/embeddings', 'v1/chat/completions'] },
      { path: 'v1/chat/completions', model: undefined },
    ],
    [
      { allowed_paths: [{ path: 'v1/responses', fixed_model: 'f' }], allowed_models: ['a'] },
      { path: 'v1/responses', model: 'f' },
    ],
  ])('within %j → %j', (reach, call) => {
    expect(callOf(reach, 'v1/responses')).toEqual(call);
  });
});
