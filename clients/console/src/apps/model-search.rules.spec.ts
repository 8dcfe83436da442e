import { describe, expect, it } from '@jest/globals';
import { searchModels } from './model-search.rules.js';

const KNOWN = ['gpt-4.1', 'gpt-4.1-mini', 'o3'];

describe('search for models to allow', () => {
  it('a part of names, in any case → those that are not allowed yet', () => {
    expect(searchModels(KNOWN, ['gpt-4.1'], ' GPT ')).toEqual({ found: ['gpt-4.1-mini'], note: undefined });
  });

  it('a listed model that is allowed → not called missing from the list', () => {
    expect(searchModels(KNOWN, ['o3'], 'o3')).toEqual({ found: [], note: 'It is already allowed.' });
    expect(searchModels(KNOWN, ['o3'], 'o').note).toMatch(/^Every model of the price list with this text/);
  });

  it('a model of its own → allowed already once it was added, missing from the list before', () => {
    expect(searchModels(KNOWN, [], 'my-model').note).toMatch(/^Not in the price list/);
    expect(searchModels(KNOWN, ['my-model'], 'my-model').note).toBe('It is already allowed.');
  });
});
