import { describe, expect, it } from '@jest/globals';
import { searchModels } from './model-search.rules.js';

const KNOWN = ['gpt-4.1', 'gpt-4.1-mini', 'o3'];

describe('search for models to allow', () => {
  it('part of a name, in any case → the matching models that are not allowed yet', () => {
    expect(searchModels(KNOWN, ['gpt-4.1'], ' GPT ')).toEqual({ found: ['gpt-4.1-mini'], note: undefined });
  });

  it('a listed model that is allowed → not reported as missing from the list', () => {
    expect(searchModels(KNOWN, ['o3'], 'o3')).toEqual({ found: [], note: 'It is already allowed.' });
    expect(searchModels(KNOWN, ['o3'], 'o').note).toMatch(/^Every model of the price list with this text/);
  });

  it('a custom model → missing from the list until it is added, then already allowed', () => {
    expect(searchModels(KNOWN, [], 'my-model').note).toMatch(/^Not in the price list/);
    expect(searchModels(KNOWN, ['my-model'], 'my-model').note).toBe('It is already allowed.');
  });
});
