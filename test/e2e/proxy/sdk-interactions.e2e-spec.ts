import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CallOptions, type ClientOptions, ProxyClient } from '../../support/proxy/proxy-client.js';
import { dieAfter, event, inTurn, json, type Script, sse } from '../../support/proxy/upstream-scripts.js';
import { rejectionOf } from '../../support/rejection-of.js';
import { startWorld, type World } from '../../support/world.js';

const MODEL = 'gemini-2.5-flash';
const USERS = { type: 'api_key', end_user: { source: 'header' } };
const USAGE = {
  ...{ total_input_tokens: 100, total_cached_tokens: 40, total_output_tokens: 30, total_thought_tokens: 20 },
  ...{ total_tool_use_tokens: 0, total_tokens: 150 },
};
/** The cost of these tokens at the rates that each test's provider has, in US dollars per million. */
const RATES = { input: 1, output: 10, cached_input: 0.5 };
const COST_USD = (60 * 1 + 40 * 0.5 + 50 * 10) / 1e6;

let world: World;
let made = 0;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

function interaction(more: object = {}) {
  const steps = [{ type: 'model_output', content: [{ type: 'text', text: 'Hi there' }] }];
  const id = `int_${++made}_of_the_test`;
  return { id, object: 'interaction', status: 'completed', model: MODEL, steps, usage: USAGE, ...more };
}

/** The same answer as a stream. */
function streamed({ id, status, usage, ...more }: ReturnType<typeof interaction>): Script {
  const named = (event_type: string, data: object) => `event: ${event_type}\n${event({ event_type, ...data })}`;
  const running = { id, object: 'interaction', status: 'in_progress', model: MODEL };
  const delta = (text: string) => named('step.delta', { index: 0, delta: { type: 'text', text } });
  const ended = { ...running, ...more, status, usage };
  return sse([
    named('interaction.created', { interaction: running }),
    named('step.start', { index: 0, step: { type: 'model_output' } }),
    ...[delta('Hi '), delta('there')],
    named('step.stop', { index: 0 }),
    named('interaction.completed', { interaction: ended }),
    event('[DONE]'),
  ]);
}

/** An application of a provider with known rates, and the official client of one of its users. */
async function application(options: ClientOptions = {}) {
  const provider = { type: 'gemini', pricing: { [MODEL]: RATES } };
  const client = await ProxyClient.create(world, { provider, ...options });
  const baseUrl = `${world.baseUrl}/v1/apps/${client.appId}/proxy/${client.slug}`;
  const sdkOf = (user?: string) => {
    const headers = user === undefined ? {} : { headers: { 'x-end-user-id': user } };
    return new GoogleGenAI({ apiKey: client.key, apiVersion: 'v1beta', httpOptions: { baseUrl, ...headers } });
  };
  return { client, sdkOf, interactions: sdkOf().interactions };
}

const ask = (more: object = {}) => ({ model: MODEL, input: 'Say hi.', ...more });
const sentBody = () => JSON.parse(String(world.upstream.requests.at(-1)?.body));

/** Status and text of a refusal, as reported by the official client. */
async function refusalOf(call: PromiseLike<unknown>): Promise<[status: unknown, text: string]> {
  const error = await rejectionOf(call);
  return [Object(error).status, String(Object(error).message)];
}

describe('interactions with the official SDK', () => {
  const served = {
    ...{ model: MODEL, status: 'ok', cost_source: 'computed', cost_usd: COST_USD },
    ...{ input_tokens: 60, cached_input_tokens: 40, output_tokens: 50 },
  };

  it('not streamed → the text, and one event with all kinds of tokens at their rates', async () => {
    const { client, interactions } = await application();
    const answer = interaction();
    world.upstream.script(json(200, answer));
    const got = await interactions.create(ask());
    expect([got.id, got.output_text]).toEqual([answer.id, 'Hi there']);
    expect(await client.events()).toEqual([
      expect.objectContaining({ ...served, route: `${client.slug}/v1beta/interactions` }),
    ]);
  });

  it('streamed → every event in order, and the same usage event', async () => {
    const { client, interactions } = await application();
    world.upstream.script(streamed(interaction()));
    const types: string[] = [];
    for await (const { event_type } of await interactions.create({ ...ask(), stream: true })) types.push(event_type);
    expect(types).toEqual([
      ...['interaction.created', 'step.start', 'step.delta', 'step.delta', 'step.stop', 'interaction.completed'],
    ]);
    expect(await client.events()).toEqual([expect.objectContaining(served)]);
  });

  it('a stream that breaks before its usage → unresolved, with an estimate up to the ceiling', async () => {
    const { client, interactions } = await application({ policy: { max_output_tokens: 500 } });
    const created = { event_type: 'interaction.created', interaction: { id: 'int_broken', status: 'in_progress' } };
    const delta = { event_type: 'step.delta', index: 0, delta: { type: 'text', text: 'Hi' } };
    const text = event(created) + event(delta);
    world.upstream.script(dieAfter(text.length, text));
    const read = async () => {
      for await (const part of await interactions.create({ ...ask(), stream: true })) expect(part).toBeDefined();
    };
    await rejectionOf(read());
    const [unresolved] = await client.events();
    expect(unresolved).toMatchObject({ cost_source: 'unresolved', cost_usd: 0 });
    expect(unresolved.estimated_cost_usd).toBeGreaterThanOrEqual((500 * RATES.output) / 1e6);
  });

  it('an answer that the SDK continues automatically → two calls; the second names the first and its token', async () => {
    const { client, interactions } = await application();
    const first = interaction({ status: 'requires_continuation', continuation_token: 'token-1' });
    const second = interaction();
    world.upstream.script(inTurn(json(200, first), json(200, second)));
    expect((await interactions.create(ask())).id).toBe(second.id);
    expect(sentBody()).toMatchObject({ previous_interaction_id: first.id, continuation_token: 'token-1' });
    expect(await client.events(2)).toEqual([expect.objectContaining(served), expect.objectContaining(served)]);
  });

  it('an error inside a 200 → provider_error: free before content, priced if usage was received', async () => {
    const { client, interactions } = await application();
    world.upstream.script(json(200, interaction({ status: 'failed', steps: [], usage: undefined })));
    await interactions.create(ask());
    expect(await client.events()).toEqual([expect.objectContaining({ status: 'provider_error', cost_usd: 0 })]);
    world.upstream.script(streamed(interaction({ status: 'failed' })));
    for await (const part of await interactions.create({ ...ask(), stream: true })) expect(part).toBeDefined();
    const [failed] = await client.events(2);
    expect(failed).toMatchObject({ status: 'provider_error', cost_usd: COST_USD, cost_source: 'computed' });
  });

  it('an unknown counter → unresolved, its tokens at the highest rate of their side', async () => {
    const { client, interactions } = await application();
    world.upstream.script(json(200, interaction({ usage: { ...USAGE, total_dream_tokens: 1_000 } })));
    await interactions.create(ask());
    expect(await client.events()).toEqual([
      expect.objectContaining({
        ...{ cost_source: 'unresolved', cost_usd: COST_USD },
        estimated_cost_usd: (1_000 * RATES.output) / 1e6,
      }),
    ]);
  });
});

describe('hosted tools of interactions', () => {
  const search = { id: 'c', type: 'google_search_call', arguments: { queries: ['a'] } };
  const counted = { ...USAGE, grounding_tool_count: [{ type: 'google_search', count: 2 }] };
  const tools = [{ type: 'google_search' }, { type: 'code_execution' }, { type: 'url_context' }];

  it('searches without a rate → unresolved; tools without a fee, or no search → computed', async () => {
    const { client, sdkOf } = await application();
    const { interactions } = sdkOf();
    world.upstream.script(json(200, interaction({ steps: [search], usage: counted })));
    await interactions.create(ask({ tools }));
    const [unpriced] = await client.events();
    expect(unpriced).toMatchObject({ cost_source: 'unresolved', cost_usd: COST_USD });
    expect(unpriced.estimated_cost_usd).toBeGreaterThan(0);
    for (const script of [json(200, interaction()), streamed(interaction())]) world.upstream.script(script);
    await interactions.create(ask({ tools }));
    expect((await client.events(2))[0]).toMatchObject({ cost_source: 'computed', cost_usd: COST_USD });
  });
});

describe('the output ceiling of interactions', () => {
  it('missing → filled in; below → unchanged; above → 403; in another spelling → 400', async () => {
    const { client, interactions } = await application({ policy: { max_output_tokens: 100 } });
    world.upstream.script(json(200, interaction()));
    await interactions.create(ask());
    expect(sentBody().generation_config).toEqual({ max_output_tokens: 100 });
    await interactions.create(ask({ generation_config: { seed: 1 } }));
    expect(sentBody().generation_config).toEqual({ seed: 1, max_output_tokens: 100 });
    await interactions.create(ask({ generation_config: { max_output_tokens: 7 } }));
    expect(sentBody().generation_config).toEqual({ max_output_tokens: 7 });
    const above = await refusalOf(interactions.create(ask({ generation_config: { max_output_tokens: 101 } })));
    expect(above).toEqual([403, expect.stringContaining('101 is above the 100 output tokens')]);
    for (const config of [{ generationConfig: {} }, { generation_config: { maxOutputTokens: 7 } }]) {
      const { status, body } = await client.call('v1beta/interactions', { body: ask(config) });
      expect([status, String(body)]).toEqual([400, expect.stringContaining('must be written')]);
    }
  });
});

describe('who may name an interaction', () => {
  it.each<[string, (answer: ReturnType<typeof interaction>) => Script]>([
    ['whole', (answer) => json(200, answer)],
    ['streamed', streamed],
  ])(
    '%s: its application and user continue, read, cancel and delete it; another user, another application or no user → 400',
    async (_how, script) => {
      const own = await application({ authentication: USERS });
      const other = await application({ authentication: USERS });
      const answer = interaction();
      world.upstream.script(script(answer));
      await own.client.call('v1beta/interactions', { body: ask({ stream: true }), headers: ['x-end-user-id', 'ann'] });
      world.upstream.script(json(200, interaction({ id: answer.id })));
      const ann = own.sdkOf('ann').interactions;
      const next = ask({ previous_interaction_id: answer.id });
      expect((await ann.create(next)).status).toBe('completed');
      expect((await ann.get(answer.id, { include_input: true })).id).toBe(answer.id);
      expect(world.upstream.requests.at(-1)).toMatchObject({ method: 'GET' });
      expect((await ann.cancel(answer.id)).id).toBe(answer.id);
      expect(world.upstream.requests.at(-1)).toMatchObject({
        ...{ method: 'POST', path: `/v1beta/interactions/${answer.id}/cancel`, body: Buffer.alloc(0) },
      });
      await ann.delete(answer.id);
      expect(world.upstream.requests.at(-1)).toMatchObject({ method: 'DELETE' });
      const before = world.upstream.requests.length;
      for (const { interactions } of [own.sdkOf('bob'), other.sdkOf('ann')]) {
        const previous = await refusalOf(interactions.create(next));
        expect(previous).toEqual([400, expect.stringContaining('previous_interaction_id: names nothing')]);
        const { id } = answer;
        for (const call of [() => interactions.get(id), () => interactions.cancel(id), () => interactions.delete(id)])
          expect(await refusalOf(call())).toEqual([400, expect.stringContaining('path: names nothing')]);
      }
      expect(world.upstream.requests).toHaveLength(before);
    },
  );

  it('reading and cancelling → free, and recorded without a model', async () => {
    const { client, interactions } = await application();
    const answer = interaction();
    world.upstream.script(json(200, answer));
    await interactions.create(ask());
    const free = { model: '(none)', cost_usd: 0, cost_source: 'computed', output_tokens: 0 };
    await interactions.get(answer.id);
    expect((await client.events(2))[0]).toMatchObject(free);
    await interactions.cancel(answer.id);
    expect((await client.events(3))[0]).toMatchObject(free);
  });

  it.each<[string, string, CallOptions, number]>([
    ['a body', 'cancel', { body: { model: MODEL, input: 'Hi' } }, 400],
    ['another method', 'cancel', { method: 'DELETE' }, 403],
    ['another act', 'resume', { method: 'POST' }, 403],
    ['an id that leaves the path', '..%2fcancel', { method: 'POST' }, 403],
    ['a part of an id', '/cancel', { method: 'POST' }, 403],
  ])('a cancellation with %s → refused, nothing is sent', async (_name, act, options, expected) => {
    const { client, interactions } = await application();
    const answer = interaction();
    world.upstream.script(json(200, answer));
    await interactions.create(ask());
    await client.events(1);
    world.upstream.forget();
    const { status } = await client.call(`v1beta/interactions/${answer.id}/${act}`, options);
    expect([status, world.upstream.requests.length]).toEqual([expected, 0]);
  });

  it('steps of an earlier answer, sent back with their ids and store: false → accepted, and nothing is stored', async () => {
    const { interactions } = await application();
    const answer = interaction({ id: undefined });
    world.upstream.script(json(200, answer));
    const steps = [
      { type: 'user_input', content: [{ type: 'text', text: 'Search.' }] },
      { type: 'thought', signature: 's' },
      ...[{ type: 'file_search_call' }, { type: 'processing_call' }, { type: 'google_maps_call' }].map(
        (step, index) => ({
          ...{ ...step, id: `call_${index}`, signature: 's' },
        }),
      ),
      { type: 'function_call', id: 'call_9', name: 'look', arguments: {} },
      { type: 'function_result', call_id: 'call_9', result: 'seen' },
    ];
    await interactions.create(ask({ input: steps, store: false }) as never);
    expect(sentBody().input).toEqual(steps);
  });

  it.each<[object, string]>([
    [{ interaction_id: 'int_x' }, 'interaction_id'],
    [{ environment: 'env_x' }, 'environment'],
    [{ environment: { type: 'remote', environment_id: 'env_x' } }, 'environment'],
    [{ cached_content: 'cachedContents/x' }, 'cached_content'],
    [
      { tools: [{ type: 'file_search', file_search_store_names: ['fileSearchStores/x'] }] },
      'file_search_store_names.0',
    ],
    [{ input: [{ type: 'image', uri: 'https://generativelanguage.googleapis.com/v1beta/files/x' }] }, 'uri'],
    [{ background: true }, 'background'],
    [{ agent: 'deep-research-preview-04-2026', model: undefined }, 'agent'],
    [{ agent_config: { type: 'antigravity', model: 'gemini-4-argon' } }, 'agent_config'],
    [{ webhook_config: { uris: ['https://a.example/'] } }, 'webhook_config'],
    [{ service_tier: 'priority' }, 'service_tier'],
  ])('%j → 400, naming %s', async (more, member) => {
    const { client } = await application();
    const { status, body } = await client.call('v1beta/interactions', { body: ask(more) });
    expect([status, JSON.parse(String(body)).error.message]).toEqual([400, expect.stringContaining(`${member}: `)]);
  });
});

describe('the model of an interaction', () => {
  it('not allowed → 403; without a price → 400; missing → 400; rewritten → sent and recorded under the new name', async () => {
    const { client, interactions } = await application({
      ...{ policy: { allowed_models: [MODEL, 'fast'] }, rewrites: { fast: MODEL } },
    });
    world.upstream.script(json(200, interaction()));
    const { client: free } = await application();
    const calls = [
      { of: client, model: 'gemini-4-argon' },
      { of: free, model: 'unpriced' },
      { of: client, model: undefined },
    ];
    const codes = calls.map(async ({ of, model }) => {
      const { status, body } = await of.call('v1beta/interactions', { body: ask({ model }) });
      return [status, JSON.parse(String(body)).error.code];
    });
    expect(await Promise.all(codes)).toEqual([
      [403, 'model_not_allowed'],
      [400, 'pricing_not_configured'],
      [400, 'invalid_request'],
    ]);
    await interactions.create(ask({ model: 'fast' }));
    expect(sentBody().model).toBe(MODEL);
    expect(await client.events()).toEqual([expect.objectContaining({ model: MODEL })]);
  });
});
