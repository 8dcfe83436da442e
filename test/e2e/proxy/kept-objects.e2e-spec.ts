import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { type CallOptions, ProxyClient } from '../../support/proxy/proxy-client.js';
import { event, json, type Script, sse } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const MODEL = { model: 'gpt-4.1' };
const USERS = { type: 'api_key', end_user: { source: 'header' } };
const asUser = (user: string, body: object): CallOptions => ({ body, headers: ['x-end-user-id', user] });
const USAGE = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

let world: World;
let made = 0;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** An answer of the Responses API with items of several types, and their ids. */
function response() {
  const id = (prefix: string) => `${prefix}_${++made}_of_the_test`;
  const ids = {
    ...{ response: id('resp'), reasoning: id('rs'), message: id('msg'), call: id('fc') },
    ...{ code: id('ci'), container: id('cntr'), conversation: id('conv') },
  };
  const output = [
    { id: ids.reasoning, type: 'reasoning', summary: [] },
    { id: ids.code, type: 'code_interpreter_call', code: 'print(1)', container_id: ids.container, outputs: null },
    { id: ids.call, type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
    { id: ids.message, type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
  ];
  const conversation = { id: ids.conversation };
  const body = { id: ids.response, object: 'response', ...MODEL, output, conversation, usage: USAGE };
  return { ids, output, body };
}

function streamed({ body, output }: ReturnType<typeof response>): Script {
  const opened = { ...body, output: [], usage: null };
  return sse([
    event({ type: 'response.created', response: opened }),
    ...output.map((item, output_index) => event({ type: 'response.output_item.added', output_index, item })),
    event({ type: 'response.completed', response: body }),
  ]);
}

/** Every form in which a request can refer to objects of an answer. */
function formsOf({ ids, output }: ReturnType<typeof response>): object[] {
  return [
    { previous_response_id: ids.response },
    { conversation: ids.conversation },
    { conversation: { id: ids.conversation } },
    ...[ids.reasoning, ids.message, ids.call, ids.code].map((id) => ({ input: [{ type: 'item_reference', id }] })),
    { input: [{ id: ids.message }] },
    { input: output },
    { input: [{ id: ids.reasoning, type: 'reasoning', summary: [{ type: 'summary_text', text: 'I think' }] }] },
    { tools: [{ type: 'code_interpreter', container: ids.container }] },
    { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: ids.container } }] },
  ];
}

async function answered(client: ProxyClient, options: CallOptions): Promise<number> {
  return (await client.call('v1/responses', options)).status;
}

describe.each<[string, (made: ReturnType<typeof response>) => Script]>([
  ['whole', ({ body }) => json(200, body)],
  ['streamed', streamed],
])('objects named in an answer, %s', (_name, script) => {
  it('its application and user can name it in every form; another user, another application, a call without a user → 400', async () => {
    const owner = await ProxyClient.create(world, { authentication: USERS });
    const stranger = await ProxyClient.create(world, { authentication: USERS });
    const answer = response();
    world.upstream.script(script(answer));
    expect(await answered(owner, asUser('ann', { ...MODEL, stream: true }))).toBe(200);
    world.upstream.script(json(200, response().body));
    for (const form of formsOf(answer)) {
      const body = { ...MODEL, ...form };
      expect([form, await answered(owner, asUser('ann', body))]).toEqual([form, 200]);
      expect([form, await answered(owner, asUser('bob', body))]).toEqual([form, 400]);
      expect([form, await answered(stranger, asUser('ann', body))]).toEqual([form, 400]);
    }
  });

  it('received without a user → belongs to no user', async () => {
    const client = await ProxyClient.create(world, { authentication: { type: 'api_key' } });
    const answer = response();
    world.upstream.script(script(answer));
    expect(await answered(client, { body: { ...MODEL, stream: true } })).toBe(200);
    world.upstream.script(json(200, response().body));
    const next = { ...MODEL, input: [{ type: 'item_reference', id: answer.ids.message }] };
    expect(await answered(client, { body: next })).toBe(200);
    const { body } = await world.api.get(`/v1/admin/apps/${client.appId}`);
    const { name, config: before, revision } = body.app;
    const config = { ...before, authentication: USERS };
    const changed = await world.api.put(`/v1/admin/apps/${client.appId}`, { name, config, revision });
    expect(changed.status).toBe(200);
    expect(await answered(client, asUser('ann', next))).toBe(400);
  });
});

it('an id in data that the provider echoes (metadata, tool schemas) → does not count', async () => {
  const victim = response();
  const thief = await ProxyClient.create(world);
  const echo = {
    ...response().body,
    metadata: { id: victim.ids.message },
    tools: [{ item: { id: victim.ids.message } }],
  };
  world.upstream.script(json(200, echo));
  expect(await answered(thief, { body: MODEL })).toBe(200);
  expect(await answered(thief, { body: { ...MODEL, input: [{ id: victim.ids.message }] } })).toBe(400);
});

it('store: false → none of it is stored', async () => {
  const client = await ProxyClient.create(world);
  const answer = response();
  world.upstream.script(json(200, answer.body));
  expect(await answered(client, { body: { ...MODEL, store: false } })).toBe(200);
  expect(await answered(client, { body: { ...MODEL, input: [{ id: answer.ids.reasoning }] } })).toBe(400);
});

it('audio of a completion → belongs to its owner', async () => {
  const client = await ProxyClient.create(world);
  const stranger = await ProxyClient.create(world);
  const chat = (audio: object) => ({ ...MODEL, messages: [{ role: 'assistant', audio }], modalities: ['audio'] });
  const pieces = [
    { id: 'audio_7', data: 'AAAA' },
    { id: 'audio_7', data: 'BBBB' },
  ];
  world.upstream.script(
    sse([
      ...pieces.map((audio) => event({ id: 'chatcmpl-7', choices: [{ delta: { audio } }] })),
      event({ id: 'chatcmpl-7', choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
      event('[DONE]'),
    ]),
  );
  const first = {
    ...MODEL,
    messages: [],
    modalities: ['audio'],
    stream: true,
    stream_options: { include_usage: true },
  };
  expect((await client.call('v1/chat/completions', { body: first })).status).toBe(200);
  const next = chat({ id: 'audio_7' });
  expect((await client.call('v1/chat/completions', { body: next })).status).toBe(200);
  expect((await stranger.call('v1/chat/completions', { body: next })).status).toBe(400);
});

it('Anthropic containers and messages → belong to their owner', async () => {
  const provider = { type: 'anthropic', pricing: { 'claude-sonnet-4-5': { input: 1, output: 1 } } };
  const client = await ProxyClient.create(world, { provider });
  const stranger = await ProxyClient.create(world, { provider });
  const call = (one: ProxyClient, body: object) =>
    one.call('v1/messages', { body: { model: 'claude-sonnet-4-5', max_tokens: 9, messages: [], ...body } });
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'msg_9', type: 'message', role: 'assistant', content: [], usage };
  world.upstream.script(
    sse([
      event({ type: 'message_start', message }),
      event({ type: 'message_delta', delta: { container: { id: 'container_9' } }, usage }),
    ]),
  );
  const diagnostics = { previous_message_id: null };
  expect((await call(client, { stream: true, diagnostics, tools: [{ type: 'code_execution_20250825' }] })).status).toBe(
    200,
  );
  for (const next of [
    { container: 'container_9' },
    { container: { id: 'container_9', skills: [] } },
    { diagnostics: { previous_message_id: 'msg_9' } },
  ]) {
    expect([next, (await call(client, next)).status]).toEqual([next, 200]);
    expect([next, (await call(stranger, next)).status]).toEqual([next, 400]);
  }
});

it('an answer of several megabytes → its items belong to its owner', async () => {
  const [client, stranger] = [await ProxyClient.create(world), await ProxyClient.create(world)];
  const { ids, body } = response();
  const picture = { id: `ig_of_${ids.response}`, type: 'image_generation_call', result: 'A'.repeat(3 * 1024 * 1024) };
  world.upstream.script(json(200, { ...body, output: [picture, ...body.output] }));
  expect((await client.call('v1/responses', { body: MODEL })).isComplete).toBe(true);
  world.upstream.script(json(200, response().body));
  for (const reference of [
    ...[picture.id, ids.message].map((id) => ({ input: [{ type: 'item_reference', id }] })),
    { previous_response_id: ids.response },
    { tools: [{ type: 'code_interpreter', container: ids.container }] },
  ]) {
    expect([reference, await answered(client, { body: { ...MODEL, ...reference } })]).toEqual([reference, 200]);
    expect([reference, await answered(stranger, { body: { ...MODEL, ...reference } })]).toEqual([reference, 400]);
  }
});

describe('objects that an application creates on additional allowed paths', () => {
  const paths = ['v1/files', 'v1/vector_stores', 'v1/skills', 'v1beta/cachedContents'];
  const allowed = [
    ...paths.map((path) => ({ path, fixed_model: MODEL.model, methods: ['GET', 'POST'] })),
    'v1/responses',
  ];
  const policy = { allowed_paths: allowed.map((path) => (typeof path === 'string' ? { path } : path)) };
  const form = {
    headers: ['content-type', 'multipart/form-data; boundary=b'],
    body: '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhi\r\n--b--\r\n',
  };

  it.each<[string, CallOptions, object, object]>([
    [
      'v1/files',
      form,
      { id: 'file-7', object: 'file' },
      { input: [{ content: [{ type: 'input_file', file_id: 'file-7' }] }] },
    ],
    [
      'v1/vector_stores',
      { body: { name: 'mine' } },
      { id: 'vs_7', object: 'vector_store' },
      { tools: [{ type: 'file_search', vector_store_ids: ['vs_7'] }] },
    ],
    ['v1/skills', form, { id: 'skill_7', type: 'skill' }, { container: { skills: [{ skill_id: 'skill_7' }] } }],
    ['v1beta/cachedContents', { body: {} }, { name: 'cachedContents/c7' }, { cachedContent: 'cachedContents/c7' }],
  ])(
    '%s → its owner can name it; a user who only reads it, or another application → 400',
    async (path, create, made, use) => {
      const [client, reader] = [
        await ProxyClient.create(world, { policy }),
        await ProxyClient.create(world, { policy }),
      ];
      world.upstream.script(json(200, made));
      expect((await reader.call(path, { method: 'GET' })).status).toBe(200);
      expect((await client.call(path, create)).status).toBe(200);
      world.upstream.script(json(200, response().body));
      const body = { ...MODEL, ...use };
      expect([await answered(client, { body }), await answered(reader, { body })]).toEqual([200, 400]);
    },
  );
});

it('owners → stored for other instances, for 30 days', async () => {
  const owner = await ProxyClient.create(world, { authentication: USERS });
  const answer = response();
  world.upstream.script(json(200, answer.body));
  await answered(owner, asUser('ann', MODEL));
  const stored = () =>
    world.dataSource.query<{ object_id: string; user_id: string; days: number }[]>(
      `SELECT object_id, user_id, round(extract(epoch FROM kept_until - now()) / 86400)::integer AS days
       FROM kept_objects WHERE app_id = $1 ORDER BY object_id`,
      [owner.appId],
    );
  const { response: _response, ...others } = answer.ids;
  const expected = Object.values(others).toSorted();
  await eventually(async () => (await stored()).length === expected.length, { withinMs: 20_000 });
  expect(await stored()).toEqual(expected.map((id) => ({ object_id: id, user_id: 'ann', days: 30 })));
});
