import { describe, expect, it } from '@jest/globals';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import { ITEM_CONTENT } from '../../upstreams/kept-objects.js';
import { REQUEST_NAMES } from '../json/checked-members.js';
import { scanJson } from '../json/json-scan.js';
import { validateCostMembers } from './cost-members.rules.js';
import {
  isKeptModel,
  keepsObjects,
  keptReferences,
  validateKeptFields,
  validateKeptParameters,
} from './kept-objects.rules.js';

/** The refusal, or the objects that only their owner may name, or `passes`. */
function validate(body: object | string, style: ApiStyle = 'responses'): string {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  try {
    const references = keptReferences(scanJson(bytes, REQUEST_NAMES), style);
    return references.length === 0 ? 'passes' : references.map(({ path, id }) => `${path} → ${id}`).join(', ');
  } catch (error) {
    return String(error);
  }
}

const gemini = 'https://generativelanguage.googleapis.com/v1beta/files/abc';
const item = (...items: unknown[]) => ({ input: items });
const image = (url: string) => ({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] });

describe('objects kept at the provider (ADR 0028)', () => {
  it.each<[object, string]>([
    [{ conversation_id: 'conv_1' }, 'conversation_id: objects stored at the provider'],
    [{ conversation: 5 }, 'conversation: must be'],
    [{ conversation: {} }, 'conversation.id: must be'],
    [{ previous_response_id: 5 }, 'previous_response_id: must be'],
    [{ previous_response_id: '' }, 'previous_response_id: must be'],
    [{ previous_response_id: 'r', previousResponseId: 'r' }, 'previous_response_id: is given in two'],
    [{ container: ['cntr_1'] }, 'container: objects stored'],
    [{ container_id: 'c'.repeat(2_000) }, 'container_id: is longer'],
    [{ batch: 'batch_1' }, 'batch:'],
    [{ preset: 'pro-search' }, 'preset:'],
    [{ agent_id: 'ag_1' }, 'agent_id:'],
    [{ previous_interaction_id: { id: 'int_1' } }, 'previous_interaction_id: must be'],
    [{ interaction_id: 'int_1' }, 'interaction_id:'],
    [{ environment: 'env_1' }, 'environment:'],
    [{ environment: { type: 'remote', sources: [] } }, 'environment:'],
    [{ tools: [{ type: 'retrieval', rag_store_config: { rag_resources: [{}] } }] }, 'rag_store_config:'],
    [{ tools: [{ type: 'retrieval', vertex_ai_search_config: { engine: 'e' } }] }, 'vertex_ai_search_config:'],
    [{ input: [{ type: 'document', uri: gemini }] }, 'uri:'],
    [{ input: [{ type: 'video', uri: 'files/abc' }] }, 'uri:'],
    [{ input: { type: 'audio', uri: 'gs://bucket/a.wav' } }, 'uri:'],
    [{ user_profile_id: 'up_1' }, 'user_profile_id:'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt:'],
    [{ tools: [{ type: 'mcp', server_label: 'a', connector_id: 'connector_gmail' }] }, 'connector_id:'],
    [{ tools: [{ type: 'mcp', server_label: 'a', tunnel_id: 't' }] }, 'tunnel_id:'],
    [{ tools: [{ type: 'document_library', library_ids: ['l'] }] }, 'library_ids:'],
    [{ tools: [{ type: 'collections_search', collection_ids: ['c'] }] }, 'collection_ids:'],
    [{ tools: [{ type: 'file_search', vector_store_ids: ['vs_1', 7] }] }, 'vector_store_ids.1: objects stored'],
    [{ tools: [{ type: 'file_search', vector_store_ids: [['vs_1']] }] }, 'vector_store_ids.0: objects stored'],
    [{ tools: [{ type: 'file_search', vector_store_ids: [''] }] }, 'vector_store_ids.0: must be'],
    [{ file_ids: Array(513).fill('file-1') }, 'file_ids: has more than 512'],
    [{ file_id: ['file-1'] }, 'file_id: objects stored'],
    [{ tools: [{ retrieval: { vertexAiSearch: { datastore: 'd' } } }] }, 'vertexAiSearch:'],
    [{ tools: [{ retrieval: { vertex_rag_store: { rag_corpora: ['c'] } } }] }, 'vertex_rag_store:'],
    [{ modelArmorConfig: { promptTemplateName: 'projects/p/locations/l/templates/t' } }, 'promptTemplateName:'],
    [{ audio: { voice: { id: 'voice_1' }, format: 'wav' } }, 'voice.id:'],
    [{ prompt_cache_options: { comparison_response_id: 'resp_1' } }, 'comparison_response_id:'],
    [{ contents: [{ parts: [{ fileData: { fileUri: gemini } }] }] }, 'fileUri:'],
    [{ contents: [{ parts: [{ file_data: { file_uri: gemini.toUpperCase() } }] }] }, 'file_uri:'],
    [{ fileUri: 'files/abc' }, 'fileUri:'],
    [{ fileUri: 'gs://bucket/object' }, 'fileUri:'],
    [{ fileUri: 'https://us-generativelanguage.googleapis.com./v1/files/a' }, 'fileUri:'],
    [{ fileUri: `https://a.example/${'x'.repeat(9000)}` }, 'fileUri: longer'],
    [image('ms://file-1'), 'url:'],
    [image('GS://bucket/a.png'), 'url:'],
    [image('file-abc123'), 'url:'],
    [image(gemini), 'url:'],
    [{ input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'files/abc' }] }] }, 'image_url:'],
    [{ messages: [{ content: [{ type: 'file', file: { file_data: 'gs://bucket/a.pdf' } }] }] }, 'file_data:'],
    [{ messages: [{ content: [{ source: { type: 'url', url: 's3://bucket/a.pdf' } }] }] }, 'url:'],
  ])('%j → 400, naming %p', (body, message) => {
    expect(validate(body)).toContain(`GatewayError: ${message}`);
  });

  it.each([
    ['{"x":[{"skill\\u005Fids":[["a"]]}]}', 'skill_ids.0:'],
    ['{"x":[{"CONNECTOR_ID":"a"}]}', 'connector_id:'],
    ['{"input":[{"ID":"msg_1"}]}', 'input.0.id: "ID"'],
    ['{"input":[{"type":"message","type":"item_reference","id":"msg_1","content":"a"}]}', 'input.0.type: named twice'],
    ['{"input":[{"type":"image_generation_call","id":"i","result":"x","result":null}]}', 'input.0.result: named twice'],
    ['{"x":{"image_url":{"url":"\\u0067s://b/a"}}}', 'url:'],
  ])('spelled so that parsers could differ: %s → still 400', (body, message) => {
    expect(validate(body)).toContain(`GatewayError: ${message}`);
  });

  it.each<[object | string, string]>([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id → resp_1'],
    [{ previousResponseId: 'resp_1' }, 'previousResponseId → resp_1'],
    [{ previous_interaction_id: 'int_1' }, 'previous_interaction_id → int_1'],
    [{ previousInteractionId: 'int_1' }, 'previousInteractionId → int_1'],
    [{ conversation: 'conv_1' }, 'conversation → conv_1'],
    [{ conversation: { id: 'conv_1' } }, 'conversation.id → conv_1'],
    [{ container: 'container_1' }, 'container → container_1'],
    [{ container: { id: 'container_1', skills: [] } }, 'container.id → container_1'],
    [{ tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }, 'container → cntr_1'],
    [
      { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'c' } }] },
      'container_id → c',
    ],
    [{ cachedContent: 'cachedContents/1' }, 'cachedContent → cachedContents/1'],
    [{ cached_content: 'cachedContents/1' }, 'cached_content → cachedContents/1'],
    [{ extra_body: { google: { cached_content: 'cachedContents/1' } } }, 'cached_content → cachedContents/1'],
    [{ container: { skills: [{ type: 'custom', skill_id: 'skill_1', version: 'latest' }] } }, 'skill_id → skill_1'],
    [{ tools: [{ environment: { type: 'container_auto', skills: [{ skill_id: 's' }] } }] }, 'skill_id → s'],
    [{ tools: [{ type: 'image_generation', input_image_mask: { file_id: 'f' } }] }, 'file_id → f'],
    [{ input: [{ content: [{ type: 'input_image', file_id: 'file-1' }] }] }, 'file_id → file-1'],
    [{ messages: [{ content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] }, 'file_id → f'],
    [{ messages: [{ content: [{ type: 'container_upload', file_id: 'f' }] }] }, 'file_id → f'],
    [{ endpoint: '/v1/responses', input_file_id: 'file-1' }, 'input_file_id → file-1'],
    [
      { tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } }] },
      'file_ids.0 → file-1',
    ],
    [
      '{"vector_store_ids": [ "vs_1" ,\n"vs\\u005f\\"2\\\\" ] }',
      'vector_store_ids.0 → vs_1, vector_store_ids.1 → vs_"2\\',
    ],
    [
      { tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/1'] } }] },
      'fileSearchStoreNames.0 → fileSearchStores/1',
    ],
    [{ file_search_store_names: ['fileSearchStores/1'] }, 'file_search_store_names.0 → fileSearchStores/1'],
    ['{"x":[{"file\\u005Fid":"a"}]}', 'file_id → a'],
    ['{"x":[{"FILE_ID":"a"}]}', 'file_id → a'],
    [{ messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }, 'audio.id → audio_1'],
    [{ messages: [{ role: 'assistant', audio: { id: 'audio_1', data: '' } }] }, 'audio.id → audio_1'],
    [{ diagnostics: { previous_message_id: 'msg_1' } }, 'previous_message_id → msg_1'],
    ['{"input":[{"\\u0069d":"msg\\u005f1"}]}', 'input.0.id → msg_1'],
    ['{"input":[],"input":[{"id":"msg_1"}]}', 'input.0.id → msg_1'],
    ['{"input":[{"id":"msg_1"}],"input":[]}', 'input.0.id → msg_1'],
    [item({ type: 'item_reference', id: 'msg_1' }), 'input.0.id → msg_1'],
    [item({ type: 'item_reference', id: 'msg_1', role: 'user', content: 'a' }), 'input.0.id → msg_1'],
    [item('a', { role: 'user', content: 'a' }, { id: 'msg_1' }), 'input.2.id → msg_1'],
    [item({ type: null, id: 'msg_1' }), 'input.0.id → msg_1'],
    [item({ id: 'msg_1', content: 'a' }), 'input.0.id → msg_1'],
    [item([{ id: 'msg_1' }]), 'input.0.id → msg_1'],
    [{ input: { id: 'msg_1' } }, 'input.id → msg_1'],
    [item({ type: 'image_generation_call', id: 'ig_1' }), 'input.0.id → ig_1'],
    [item({ type: 'image_generation_call', id: 'ig_1', result: null, status: 'completed' }), 'input.0.id → ig_1'],
    [item({ type: 'image_generation_call', id: 'ig_1', result: '' }), 'input.0.id → ig_1'],
    [
      item({ type: 'code_interpreter_call', id: 'ci_1', code: null, outputs: [], container_id: 'c' }),
      'input.0.id → ci_1, input.0.container_id → c',
    ],
    [item({ type: 'code_interpreter_call', container_id: 'cntr_1' }), 'input.0.container_id → cntr_1'],
    [item({ type: 'reasoning', id: 'rs_1', summary: [] }), 'input.0.id → rs_1'],
    [item({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: null }), 'input.0.id → rs_1'],
    [item({ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'a' }] }), 'input.0.id → rs_1'],
    [item({ type: 'reasoning', id: 'rs_1', content: [{ type: 'reasoning_text', text: 'a' }] }), 'input.0.id → rs_1'],
    [item({ type: 'web_search_call', id: 'ws_1', status: 'completed' }), 'input.0.id → ws_1'],
    [item({ type: 'some_new_call', id: 'x_1', status: 'completed' }), 'input.0.id → x_1'],
    [item({ type: 'message', id: 'msg_1', role: 'assistant' }), 'input.0.id → msg_1'],
    [item({ type: 7, id: 'msg_1' }), 'input.0.id → msg_1'],
  ])('%j → only for the owner of %s', (body, reference) => {
    expect(validate(body)).toBe(reference);
  });

  it.each([...ITEM_CONTENT].filter(([type]) => type !== 'compaction_trigger'))(
    'an item of type %s → accepted with its content, whatever id it has, refused without',
    (type, { members: [first = ''] }) => {
      expect(validate(item({ type, id: 'item_1', call_id: 'call_1', [first]: 'content' }))).toBe('passes');
      expect(validate(item({ type, id: 'item_1', call_id: 'call_1' }))).toBe('input.0.id → item_1');
      expect(validate(item({ type, call_id: 'call_1' }))).toBe('passes');
    },
  );

  it('the output of a response, sent back as input → accepted', () => {
    const annotations = [
      { type: 'container_file_citation', container_id: 'cntr_1', file_id: 'cfile_1', start_index: 0, end_index: 1 },
      { type: 'file_citation', file_id: 'file_1', filename: 'a', index: 0 },
    ];
    const output = [
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'a' } },
      { type: 'code_interpreter_call', id: 'ci_1', code: 'print(1)', container_id: 'cntr_1', outputs: null },
      { type: 'file_search_call', id: 'fs_1', queries: ['a'], results: [{ file_id: 'file_1', text: 'a' }] },
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBORw0KGgo' },
      { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'open', arguments: '{"file_id":"a"}' },
      { type: 'function_call_output', call_id: 'c', output: '' },
      { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'a', annotations }] },
    ];
    expect(validate({ input: [{ role: 'user', content: 'a' }, ...output] })).toBe('passes');
  });

  it.each<object>([
    {},
    { conversation: null, cachedContent: null, prompt: null, container: null },
    { prompt: 'Once upon' },
    { prompt: ['a', 'b'] },
    { container: { skills: [] } },
    { container: { id: null } },
    { tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: [] } }] },
    { store: true },
    { input: 'id: msg_1' },
    { messages: [{ content: 'file_id: "file-1", background: true' }] },
    { messages: [{ role: 'assistant', audio: { id: 'audio_1', data: 'UklGRg==', transcript: 'a' } }] },
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: { file_id: 'f', id: 'i' } }] },
      ],
    },
    { contents: [{ parts: [{ functionCall: { name: 'n', args: { fileUri: 'files/a', container: 'x' } } }] }] },
    { contents: [{ parts: [{ functionResponse: { name: 'n', response: { file_id: 'f' } } }] }] },
    { metadata: { file_id: 'f', container: 'blue' } },
    { tools: [{ type: 'function', parameters: { properties: { file_id: { type: 'string' } } } }] },
    { tools: [{ type: 'function', parameters: { properties: {}, default: { file_id: 'a' } } }] },
    { tools: [{ name: 'n', input_schema: { dependentRequired: { file_id: ['container'] } } }] },
    {
      tools: [{ name: 'n', input_schema: {}, input_examples: [{ file_id: 'f', container: 'c', audio: { id: 'a' } }] }],
    },
    { tools: [{ functionDeclarations: [{ name: 'n', parametersJsonSchema: { examples: [{ fileUri: 'a' }] } }] }] },
    {
      response_format: { type: 'json_schema', json_schema: { schema: { default: { container: 'c', file_id: 'f' } } } },
    },
    {
      text: {
        format: {
          type: 'json_schema',
          schema: { examples: [{ file_id: 'f' }], dependentRequired: { file_id: ['a'] } },
        },
      },
    },
    { output_config: { format: { type: 'json_schema', schema: { default: { skill_id: 's' } } } } },
    { generationConfig: { responseSchema: { example: { fileUri: 'files/a' } } } },
    { generationConfig: { responseJsonSchema: { default: { fileUri: 'files/a' } } } },
    { documents: [{ id: 'd', data: { container: 'blue', file_id: 'f' } }] },
    { client_metadata: { container: 'blue' } },
    { documents: [{ id: 'd', data: { audio: { id: 'a' } } }] },
    item({ type: 'tool_search_call', id: 't', arguments: { file_id: 'f' } }),
    { messages: [{ content: [{ type: 'text', text: 'a', citations: [{ type: 'x', file_id: 'f' }] }] }] },
    { contents: [{ parts: [{ fileData: { fileUri: 'https://www.youtube.com/watch?v=1' } }] }] },
    image('https://images.example/a.png'),
    image('data:image/png;base64,iVBORw0KGgo='),
    image('iVBORw0KGgo'.repeat(50)),
    { messages: [{ content: [{ type: 'url_citation', url: 'about:blank' }] }] },
    {
      input: [
        { content: [{ type: 'input_file', file_url: 'https://a.example/a.pdf', file_data: 'JVBERi0x'.repeat(40) }] },
      ],
    },
  ])('%j → accepted', (body) => {
    expect(validate(body)).toBe('passes');
  });

  it.each(['{"input":[{"content":1,"content":2,"Type":3}]}', '{"input":{"input":"","input":""},"input":1}'])(
    'duplicate names without a reference: %s → accepted',
    (body) => {
      expect(validate(body)).toBe('passes');
    },
  );

  it('a URL with escaped slashes, as some serialisers write it → accepted', () => {
    expect(validate('{"image_url":{"url":"https:\\/\\/a.example\\/a.png"}}')).toBe('passes');
  });

  it.each([
    'file_id',
    'file_ids[]',
    'image[file_id]',
    'options.fileId',
    'container',
    'previous_response_id',
    'File_ID',
  ])('a form field %s → 400', (name) => {
    expect(() => validateKeptFields([{ name: 'prompt' }, { name }])).toThrow('objects stored at the provider');
  });

  it.each(['prompt', 'image[]', 'file', 'model', 'mask'])('a form field %s → accepted', (name) => {
    expect(() => validateKeptFields([{ name }])).not.toThrow();
  });

  it.each(['conversation=conv_1', 'a=b&file%5Fid=f', 'previous_response_id=r', 'fileId=f'])(
    'the query %s → 400',
    (query) => {
      expect(() => validateKeptParameters(query)).toThrow('objects stored at the provider');
    },
  );

  it.each(['', 'alt=sse', 'api-version=1&beta=true'])('the query %p → accepted', (query) => {
    expect(() => validateKeptParameters(query)).not.toThrow();
  });

  it.each([
    ['@preset/mine', true],
    ['openai/gpt-5@preset/mine', true],
    ['ft:gpt-4o:org::1', true],
    ['tunedModels/mine', true],
    ['gpt-4o', false],
    ['anthropic/claude-sonnet-5', false],
  ])('the model %s → kept at the provider: %p', (model, isKept) => {
    expect(isKeptModel(model)).toBe(isKept);
  });

  it.each<[ApiStyle, object, boolean]>([
    ['responses', {}, true],
    ['responses', { store: null }, true],
    ['responses', { store: true }, true],
    ['responses', { store: false }, false],
    ['chat_completions', {}, false],
    ['chat_completions', { store: false }, false],
    ['chat_completions', { store: true }, true],
    ['chat_completions', { modalities: ['text', 'audio'] }, true],
    ['anthropic_messages', {}, false],
    ['anthropic_messages', { tools: [{ name: 'mine', input_schema: {} }] }, false],
    ['anthropic_messages', { diagnostics: {} }, true],
    ['anthropic_messages', { tools: [{ type: 'code_execution_20250825' }] }, true],
    ['anthropic_messages', { container: { skills: [] } }, true],
    ['gemini_native', {}, false],
    ['gemini_interactions', {}, true],
    ['gemini_interactions', { store: true }, true],
    ['gemini_interactions', { store: false }, false],
    ['other', {}, true],
    ['other', { store: false }, false],
  ])('an answer of %s to %j is kept: %p', (style, body, isKept) => {
    const scan = scanJson(Buffer.from(JSON.stringify(body)), REQUEST_NAMES);
    expect(keepsObjects(scan, style, validateCostMembers(scan, style).hosted)).toBe(isKept);
  });
});
