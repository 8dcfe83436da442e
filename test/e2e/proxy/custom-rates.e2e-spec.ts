import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { hold, json } from '../../support/proxy/upstream-scripts.js';
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

describe('rates of what a request asks for', () => {
  it('images → those that it asks for; the estimate of admission covers them', async () => {
    const limits = { per_app: { spending: { monthly_usd: 0.05 } } };
    const client = await clientOf({ per_image: 0.04 }, limits);
    const pictures = { created: 1, data: [{ url: 'https://a.example/1' }, { url: 'https://a.example/2' }] };
    const first = hold(' ');
    world.upstream.script(first.script);
    const open = client.open(IMAGES, { body: { model: PRICED, prompt: 'A cat', n: 2 } });
    await eventually(() => first.open() === 1, { withinMs: 10_000 });
    // What the first may cost is held: the budget has nothing left.
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

  it('a fee of every request → beside the tokens; of one that the provider refuses → nothing', async () => {
    const client = await clientOf({ ...TOKENS, per_request: 0.5 });
    world.upstream.script(completion());
    await client.call(CHAT, { body: { model: PRICED, messages: [] } });
    world.upstream.script(json(400, { error: { message: 'no' } }));
    await client.call(CHAT, { body: { model: PRICED, messages: [] } });
    const costs = (await client.events(2)).map(({ cost_usd }) => cost_usd);
    expect(costs).toEqual([0, 0.5 + (100 * 1 + 10 * 10) / 1e6]);
  });

  it('no image asked for at a price per image alone → unresolved', async () => {
    const client = await clientOf({ per_image: 0.04 });
    world.upstream.script(completion());
    await client.call(CHAT, { body: { model: PRICED, messages: [] } });
    expect(await client.events()).toEqual([expect.objectContaining({ cost_usd: 0, cost_source: 'unresolved' })]);
  });

  it('searches of Gemini that it counts → at the rate for web searches', async () => {
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

describe('custom rates that are not valid', () => {
  it.each<[object, string]>([
    [{ per_image: -1 }, 'pricing.m.per_image: '],
    [{ ...TOKENS, tiers: { turbo: TOKENS } }, 'pricing.m.tiers.turbo: '],
    [{ ...TOKENS, tiers: { flex: { inputs: 1 } } }, 'pricing.m.tiers.flex.inputs: '],
  ])('%j → 400, naming the member', async (price, member) => {
    const provider = { type: 'openai', slug: 'refused', name: 'Refused', secret: 'a-secret-of-the-test' };
    const { status, body } = await world.api.post('/v1/admin/providers', { ...provider, pricing: { m: price } });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(member)]);
  });
});
