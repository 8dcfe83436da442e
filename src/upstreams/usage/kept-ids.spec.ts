import { describe, expect, it } from '@jest/globals';
import { keptIdsOf } from './kept-ids.js';

describe('objects created by paths without a style', () => {
  it.each<[string, object, readonly string[]]>([
    ['file', { id: 'file-1', object: 'file', purpose: 'user_data' }, ['file-1']],
    ['file of Anthropic', { id: 'file_011', type: 'file', filename: 'a.pdf' }, ['file_011']],
    ['upload', { id: 'upload_1', object: 'upload', file: null }, ['upload_1']],
    ['completed upload', { id: 'upload_1', object: 'upload', file: { id: 'file-1' } }, ['upload_1', 'file-1']],
    ['vector store', { id: 'vs_1', object: 'vector_store', file_counts: { total: 1 } }, ['vs_1']],
    ['skill', { id: 'skill_1', object: 'skill' }, ['skill_1']],
    ['skill of Anthropic', { id: 'skill_01', type: 'skill', source: 'custom' }, ['skill_01']],
    ['container', { id: 'cntr_1', object: 'container' }, ['cntr_1']],
    ['conversation', { id: 'conv_1', object: 'conversation' }, ['conv_1']],
    ['cache of Gemini', { name: 'cachedContents/a1', model: 'models/gemini-2.5-pro' }, ['cachedContents/a1']],
    ['store of Gemini', { name: 'fileSearchStores/mine-1' }, ['fileSearchStores/mine-1']],
  ])('a %s → its id', (_name, document, ids) => {
    expect(keptIdsOf('other', { ...document })).toEqual(ids);
  });

  it.each<[string, object]>([
    ['list', { object: 'list', data: [{ id: 'file-1', object: 'file' }], first_id: 'file-1' }],
    ['search in a store', { object: 'vector_store.search_results.page', data: [{ file_id: 'file-1' }] }],
    ['deletion', { id: 'file-1', object: 'file.deleted', deleted: true }],
    ['list of Gemini', { cachedContents: [{ name: 'cachedContents/a1' }] }],
    ['operation of Gemini', { name: 'fileSearchStores/a/operations/b' }],
    ['name of another kind', { name: 'models/gemini-2.5-pro' }],
    ['completion', { id: 'chatcmpl-1', object: 'chat.completion' }],
    ['id that is none', { id: { id: 'file-1' }, object: 'file' }],
  ])('a %s → nothing', (_name, document) => {
    expect(keptIdsOf('other', { ...document })).toEqual([]);
  });

  it('the same text in an answer of a model → nothing: models create no files', () => {
    for (const style of ['chat_completions', 'anthropic_messages', 'responses', 'gemini_native'] as const)
      expect([style, keptIdsOf(style, { name: 'cachedContents/a1', object: 'file', type: 'file' })]).toEqual([
        style,
        [],
      ]);
  });
});
