import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { EndpointChain, RESPONSE } from '../../support/proxy/endpoint-chain.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { hold, json, type Script } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const TOKENS = { input: 1, output: 10 };
const CHAT = 'v1/chat/completions';
const IMAGES = 'v1/images/generations';
const PRICED = 'a-priced-model';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const clientOf = (price: object, limits = {}, type = 'openai') =>
  ProxyClient.create(world, { provider: { type, pricing: { [PRICED]: price } }, limits });

function completion(more: object = {}) {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
  return json(200, { choices, usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }, ...more });
}

describe('rates for quantities in a request', () => {
  it('images → the requested number; the estimate at admission covers them', async () => {
    const limits = { per_app: { spending: { monthly_usd: 0.05 } } };
    const client = await clientOf({ per_image: 0.04 }, limits);
    const pictures = { created: 1, data: [{ url: 'https://a.example/1' }, { url: 'https://a.example/2' }] };
    const first = hold(' ');
    world.upstream.script(first.script);
    const open = client.open(IMAGES, { body: { model: PRICED, prompt: 'A cat', n: 2 } });
    await eventually(() => first.open() === 1, { withinMs: 10_000 });
    // The maximum cost of the first call is held: nothing of the budget remains.
    expect((await client.call(IMAGES, { body: { model: PRICED, prompt: 'A dog' } })).status).toBe(429);
    first.release(JSON.stringify(pictures));
    for await (const part of await open.head) expect(part).toBeDefined();
    const events = await client.events(2);
    expect(events.find(({ status }) => status === 'ok')).toMatchObject({ cost_usd: 0.08, cost_source: 'computed' });
  });

  it('characters of a text to speak, an answer without usage → computed', async () => {
    const client = await clientOf({ per_1k_characters: 0.015 });
    world.upstream.script(json(200, Buffer.from('sound'), { 'content-type': 'audio/mpeg' }));
    const body = { model: PRICED, input: 'a'.repeat(2_000), voice: 'alloy' };
    expect((await client.call('v1/audio/speech', { body })).status).toBe(200);
    expect(await client.events()).toEqual([expect.objectContaining({ cost_usd: 0.03, cost_source: 'computed' })]);
  });

  it('a fee per request → in addition to the tokens; for one that the provider refuses → nothing', async () => {
    const client = await clientOf({ ...TOKENS, per_request: 0.5 });
    world.upstream.script(completion());
    await client.call(CHAT, { body: { model: PRICED, messages: [] } });
    world.upstream.script(json(400, { error: { message: 'no' } }));
    await client.call(CHAT, { body: { model: PRICED, messages: [] } });
    const costs = (await client.events(2)).map(({ cost_usd }) => cost_usd);
    expect(costs).toEqual([0, 0.5 + (100 * 1 + 10 * 10) / 1e6]);
  });

  it('no image requested, with only a price per image → unresolved', async () => {
    const client = await clientOf({ per_image: 0.04 });
    world.upstream.script(completion());
    await client.call(CHAT, { body: { model: PRICED, messages: [] } });
    expect(await client.events()).toEqual([expect.objectContaining({ cost_usd: 0, cost_source: 'unresolved' })]);
  });

  it('searches that Gemini counts → at the rate for web searches', async () => {
    const client = await clientOf({ ...TOKENS, per_1k_web_searches: 14 }, {}, 'gemini');
    const usage = {
      ...{ total_input_tokens: 100, total_output_tokens: 10, total_tokens: 110 },
      grounding_tool_count: [{ type: 'google_search', count: 2 }],
    };
    world.upstream.script(json(200, { id: 'int_1', status: 'completed', steps: [], usage }));
    const body = { model: PRICED, input: 'Hi', tools: [{ type: 'google_search' }] };
    await client.call('v1beta/interactions', { body });
    const cost_usd = 0.028 + (100 * 1 + 10 * 10) / 1e6;
    expect(await client.events()).toEqual([expect.objectContaining({ cost_usd, cost_source: 'computed' })]);
  });
});

describe('rates of service tiers', () => {
  const tiers = { flex: { input: 0.5, output: 5 }, priority: { input: 2 } };

  it.each<[string, object, number, string]>([
    ['standard', {}, 100 * 1 + 10 * 10, 'computed'],
    ['flex', { service_tier: 'flex' }, 100 * 0.5 + 10 * 5, 'computed'],
    ['priority, its output at the standard rate', { service_tier: 'priority' }, 100 * 2 + 10 * 10, 'computed'],
    ['one without rates', { service_tier: 'scale' }, 100 * 1 + 10 * 10, 'unresolved'],
  ])('%s → its rates', async (_name, tier, millionths, cost_source) => {
    const client = await clientOf({ ...TOKENS, tiers });
    world.upstream.script(completion(tier));
    await client.call(CHAT, { body: { model: PRICED, messages: [] } });
    expect(await client.events()).toEqual([expect.objectContaining({ cost_usd: millionths / 1e6, cost_source })]);
  });
});

describe('a service tier that a request selects', () => {
  const TIERS = { ...TOKENS, tiers: { priority: { input: 4, output: 40 }, flex: { input: 0.5 } } };
  const body = (tier: object) => ({ model: PRICED, messages: [], ...tier });
  const PRIORITY = { service_tier: 'priority' };

  it.each<[string, object, object, number]>([
    ['the answer says so', PRIORITY, PRIORITY, 100 * 4 + 10 * 40],
    ['the answer does not say which', PRIORITY, {}, 100 * 4 + 10 * 40],
    ['the provider served another one', PRIORITY, { service_tier: 'default' }, 100 * 1 + 10 * 10],
    ['in camel case', { serviceTier: 'priority' }, {}, 100 * 4 + 10 * 40],
    ['flex, and the answer does not say which', { service_tier: 'flex' }, {}, 100 * 0.5 + 10 * 10],
  ])('%s → sent, and charged at the rates of the tier that served', async (_name, asked, answered, millionths) => {
    const client = await clientOf(TIERS);
    world.upstream.forget();
    world.upstream.script(completion(answered));
    expect((await client.call(CHAT, { body: body(asked) })).status).toBe(200);
    expect(JSON.parse(String(world.upstream.requests[0]?.body))).toMatchObject(asked);
    expect(await client.events()).toEqual([
      expect.objectContaining({ cost_usd: millionths / 1e6, cost_source: 'computed' }),
    ]);
  });

  it('a budget that only the standard rates fit → held at the rates of the tier; an answer without usage is estimated at them', async () => {
    const limits = { per_app: { spending: { monthly_usd: 0.01 } } };
    const client = await clientOf({ input: 0, output: 10, tiers: { priority: { output: 40 } } }, limits);
    const first = hold(' ');
    world.upstream.script(first.script);
    const open = client.open(CHAT, { body: { ...body(PRIORITY), max_tokens: 300 } });
    await eventually(() => first.open() === 1, { withinMs: 10_000 });
    // 300 tokens at 40 dollars a million are 0.012: nothing is left while it runs.
    expect((await client.call(CHAT, { body: { ...body({}), max_tokens: 1 } })).status).toBe(429);
    first.release(JSON.stringify({ choices: [] }));
    for await (const part of await open.head) expect(part).toBeDefined();
    const events = await client.events(2);
    const silent = events.find(({ status }) => status === 'ok');
    expect(silent).toMatchObject({ cost_usd: 0, cost_source: 'unresolved' });
    // One token for each 64 bytes of an event stream.
    expect(silent.estimated_cost_usd).toBe(40 / 1e6);
  });

  it.each<[string, object]>([
    ['another spelling', { service_tier: 'Priority ' }],
    ['a number', { service_tier: 1 }],
    ['a list', { service_tier: ['priority'] }],
    ['an object', { service_tier: { name: 'priority' } }],
    ['a tier of no rates', { service_tier: 'batch' }],
    ['a tier that no price knows', { service_tier: 'scale' }],
    ['two that differ', { service_tier: 'priority', serviceTier: 'auto' }],
    ['speed of another provider beside it', { service_tier: 'priority', speed: 'fast' }],
    ['an option of a gateway', { providerOptions: { openai: { serviceTier: 'batch' } }, service_tier: 'batch' }],
  ])('%s → 400, nothing is sent', async (_name, asked) => {
    const client = await clientOf(TIERS);
    world.upstream.forget();
    const answer = await client.call(CHAT, { body: body(asked) });
    expect([answer.status, JSON.parse(answer.body.toString()).error.code]).toEqual([400, 'invalid_request']);
    expect(world.upstream.requests).toEqual([]);
  });

  it('one model of the instance has rates, another has none → the called model counts, after its rewrite', async () => {
    const pricing = { [PRICED]: TIERS, plain: TOKENS };
    const rewrites = { fast: PRICED, [PRICED]: 'plain' };
    const client = await ProxyClient.create(world, { provider: { type: 'openai', pricing }, rewrites });
    world.upstream.script(completion());
    const statusOf = async (model: string) => (await client.call(CHAT, { body: { ...body(PRIORITY), model } })).status;
    expect([await statusOf('plain'), await statusOf(PRICED), await statusOf('fast')]).toEqual([400, 400, 200]);
  });

  it('a named endpoint: a fallback without the rate is skipped, one with it serves; a primary without it → 400', async () => {
    const model = { model: PRICED };
    const priced = (script: Script) => ({ ...model, script, provider: { pricing: { [PRICED]: TIERS } } });
    const plain = { ...model, provider: { pricing: { [PRICED]: TOKENS } } };
    const chain = await EndpointChain.create(world, [
      priced(json(500, { error: { message: 'no' } })),
      plain,
      priced(json(200, RESPONSE)),
    ]);
    const unpriced = await EndpointChain.create(world, [plain, priced(json(200, RESPONSE))]);
    try {
      expect((await chain.call({ body: { input: 'Hi', ...PRIORITY } })).status).toBe(200);
      expect(chain.asked).toEqual([1, 0, 1]);
      expect(await chain.client.events()).toEqual([
        expect.objectContaining({ cost_usd: (1_000 * 4 + 500 * 40) / 1e6, cost_source: 'computed' }),
      ]);
      const refused = await unpriced.call({ body: { input: 'Hi', ...PRIORITY } });
      expect([refused.status, JSON.parse(refused.body.toString()).error.message]).toEqual([
        400,
        expect.stringContaining('service_tier'),
      ]);
      expect(unpriced.asked).toEqual([0, 0]);
    } finally {
      await chain.stop();
      await unpriced.stop();
    }
  });

  it('in params of an endpoint → accepted if every target has its rate, else 400 that names it', async () => {
    const slugs: string[] = [];
    for (const price of [TIERS, TOKENS]) {
      const { slug } = await world.provider({
        type: 'openai',
        slug: `tiers-${slugs.length}`,
        pricing: { [PRICED]: price },
      });
      slugs.push(slug);
    }
    const [withRate, without] = slugs.map((provider) => ({ provider, model: PRICED }));
    const save = async (targets: object) => {
      const config = {
        authentication: { type: 'api_key' },
        routing: { providers: { mode: 'all' }, model_rewrites: {} },
        endpoints: { say: { api_style: 'responses', ...targets, params: PRIORITY } },
      };
      const { status, body: answer } = await world.api.post('/v1/admin/apps', { name: 'Tiers', config });
      return [status, answer.error?.message];
    };
    const refusal = [400, expect.stringContaining('config.endpoints.say.params.service_tier: cannot be priced')];
    expect(await save({ ...withRate })).toEqual([201, undefined]);
    expect(await save({ ...without })).toEqual(refusal);
    expect(await save({ ...withRate, fallback: [without] })).toEqual(refusal);
  });
});

describe('invalid custom rates', () => {
  it.each<[object, string]>([
    [{ per_image: -1 }, 'pricing.m.per_image: '],
    [{ ...TOKENS, tiers: { turbo: TOKENS } }, 'pricing.m.tiers.turbo: '],
    [{ ...TOKENS, tiers: { flex: { inputs: 1 } } }, 'pricing.m.tiers.flex.inputs: '],
  ])('%j → 400, naming the field', async (price, member) => {
    const provider = { type: 'openai', slug: 'refused', name: 'Refused', secret: 'a-secret-of-the-test' };
    const { status, body } = await world.api.post('/v1/admin/providers', { ...provider, pricing: { m: price } });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(member)]);
  });
});
