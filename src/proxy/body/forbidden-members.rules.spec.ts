import { describe, expect, it } from '@jest/globals';
import { scanJson } from '../json/json-scan.js';
import { REQUEST_NAMES } from '../json/judged-names.js';
import { judgeCosts, judgeStoredObjects, readOwnedResponse } from './forbidden-members.rules.js';

function judge(body: object) {
  const scan = scanJson(Buffer.from(JSON.stringify(body)), REQUEST_NAMES);
  judgeStoredObjects(scan);
  return { ownedResponseId: readOwnedResponse(scan), hostedTools: judgeCosts(scan, 'responses') };
}

const gemini = 'https://generativelanguage.googleapis.com/v1beta/files/abc';

describe('forbidden members (decision 3.6, threats 3.7)', () => {
  it.each<[object, string]>([
    [{ background: true }, 'background: requests that run in the background'],
    [{ background: 'yes' }, 'background: must be'],
    [{ deferred: true }, 'deferred: requests that run in the background'],
    [{ deferred: 1 }, 'deferred: must be'],
    [{ conversation: 'conv_1' }, 'conversation: objects kept at the provider'],
    [{ conversation: { id: 'conv_1' } }, 'conversation:'],
    [{ cachedContent: 'cachedContents/1' }, 'cachedContent:'],
    [{ cached_content: 'cachedContents/1' }, 'cached_content:'],
    [{ batch: 'batch_1' }, 'batch:'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt:'],
    [{ container: 'container_1' }, 'container:'],
    [{ container: { id: 'container_1', skills: [] } }, 'container:'],
    [{ input: [{ content: [{ type: 'input_image', file_id: 'file-1' }] }] }, 'file_id:'],
    [{ tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } }] }, 'file_ids:'],
    [{ tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }, 'vector_store_ids:'],
    [{ tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/1'] } }] }, 'fileSearchStoreNames:'],
    [{ tools: [{ file_search: { file_search_store_names: ['fileSearchStores/1'] } }] }, 'file_search_store_names:'],
    [{ contents: [{ parts: [{ fileData: { fileUri: gemini } }] }] }, 'fileUri:'],
    [{ contents: [{ parts: [{ file_data: { file_uri: gemini.toUpperCase() } }] }] }, 'file_uri:'],
    [{ fileUri: 'files/abc' }, 'fileUri:'],
    [{ fileUri: 'gs://bucket/object' }, 'fileUri:'],
    [{ fileUri: 'https://us-generativelanguage.googleapis.com./v1/files/a' }, 'fileUri:'],
    [{ fileUri: `https://a.example/${'x'.repeat(9000)}` }, 'fileUri: longer'],
    [{ service_tier: 'priority' }, 'service_tier: cannot be priced; allowed are auto'],
    [{ serviceTier: 'priority' }, 'serviceTier:'],
    [{ service_tier: 1 }, 'service_tier:'],
    [{ service_tier: 'performance' }, 'service_tier:'],
    [{ speed: 'fast' }, 'speed:'],
    [{ inference_geo: 'us' }, 'inference_geo:'],
    [{ previous_response_id: 5 }, 'previous_response_id: must be'],
    [{ previous_response_id: '' }, 'previous_response_id: must be'],
  ])('%j → 400, saying %p', (body, message) => {
    expect(() => judge(body)).toThrow(message);
  });

  it('a stored object named through escapes → still refused', () => {
    const body = scanJson(Buffer.from('{"x":[{"file\\u005Fid":"a"}]}'), REQUEST_NAMES);
    expect(() => judgeStoredObjects(body)).toThrow('file_id:');
  });

  it.each<object>([
    {},
    {
      background: false,
      deferred: false,
      conversation: null,
      cachedContent: null,
      prompt: null,
      container: null,
      service_tier: null,
    },
    { prompt: 'Once upon' },
    { prompt: ['a', 'b'] },
    { deferred: null },
    { container: { skills: [] } },
    { container: { id: null } },
    { store: true },
    { speed: 1.25 },
    { service_tier: 'flex', inference_geo: 'global' },
    { service_tier: 'on_demand' },
    { messages: [{ content: 'file_id: "file-1", background: true' }] },
    { tools: [{ type: 'function', parameters: { properties: { file_id: { type: 'string' } } } }] },
    { contents: [{ parts: [{ fileData: { fileUri: 'https://www.youtube.com/watch?v=1' } }] }] },
  ])('%j → passes', (body) => {
    expect(judge(body)).toEqual({ ownedResponseId: undefined, hostedTools: [] });
  });

  it.each(['transparent', 'opaque', 'auto'])(
    'background of a picture, %j → passes where pictures are made',
    (background) => {
      const scan = scanJson(Buffer.from(JSON.stringify({ prompt: 'A cat', background })), REQUEST_NAMES);
      expect(judgeCosts(scan, 'other')).toEqual([]);
      expect(() => judgeCosts(scan, 'responses')).toThrow('background: must be');
    },
  );

  it.each<unknown>([true, 'true', 'yes', 1])('background %j → 400 there, too', (background) => {
    const scan = scanJson(Buffer.from(JSON.stringify({ background })), REQUEST_NAMES);
    expect(() => judgeCosts(scan, 'other')).toThrow('background: ');
  });

  it('previous_response_id and hosted tools → handed on for the ownership check and the price', () => {
    expect(judge({ previous_response_id: 'resp_1', tools: [{ type: 'web_search' }] })).toEqual({
      ownedResponseId: 'resp_1',
      hostedTools: ['web_search'],
    });
  });
});
