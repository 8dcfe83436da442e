import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rawSelection, rawServerConfig } from '../../support/apps/app-configs.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { GATEWAY_TOKEN, type GatewayWorld, startGatewayWorld } from '../../support/upstream-gateway-world.js';
import type { World } from '../../support/world.js';

const APPS = '/v1/admin/apps';
const PRICED = { provider: 'openai', model: 'gpt-4.1' };
const ANSWER = { id: 'resp_1', object: 'response', usage: { input_tokens: 10, output_tokens: 2 } };
const UNPRICED = 'gpt-of-tomorrow';

let stage: GatewayWorld;
let world: World;
/** For an application whose endpoint is always accepted. */
let stored: { id: string; revision: number };

beforeAll(async () => {
  stage = await startGatewayWorld();
  ({ world } = stage);
  await world.provider({ slug: 'openai' });
  await world.provider({ slug: 'second-key' });
  await world.provider({ slug: 'grok', type: 'xai' });
  await world.provider({ slug: 'claude', type: 'anthropic' });
  await world.provider({ slug: 'fast', type: 'groq' });
  await world.provider({ slug: 'own-price', pricing: { [UNPRICED]: { input: 1, output: 1 } } });
  const cf = await stage.gateway('cf_aig');
  const vercel = await stage.gateway('vercel');
  const routed = { secret: undefined, baseUrl: undefined };
  await world.provider({ ...routed, slug: 'through-cf', providerGatewayId: cf });
  await world.provider({ ...routed, slug: 'through-vercel', providerGatewayId: vercel });
  stored = await created(withEndpoint(PRICED));
});

afterAll(() => stage.stop());

const withEndpoint = (endpoint: object) => ({
  ...rawServerConfig(),
  endpoints: { say: { api_style: 'responses', ...endpoint } },
});

async function created(config: object): Promise<{ id: string; revision: number }> {
  const answer = await world.api.post(APPS, { name: 'App', config });
  if (answer.status !== 201) throw new Error(`app: ${answer.status} ${answer.text}`);
  return answer.body.app;
}

/** The answer of create, replace and validate to a configuration: always the same. */
async function refusalOf(config: object): Promise<[status: number, message: string]> {
  const body = { name: 'App', config };
  const answers = [
    await world.api.post(APPS, body),
    await world.api.put(`${APPS}/${stored.id}`, { ...body, revision: stored.revision }),
    await world.api.post(`${APPS}/${stored.id}/validate`, body),
  ];
  const [first] = answers;
  for (const answer of answers) expect(answer.body).toEqual(first?.body);
  expect(first?.body.error.code).toBe('invalid_request');
  return [first?.status ?? 0, first?.body.error.message];
}

describe('endpoint targets on create, replace and validate', () => {
  const wrong: [string, object, string][] = [
    ['a provider nobody has', { ...PRICED, provider: 'nobody' }, 'provider: is not a provider of this account'],
    ['a type in place of a slug', { provider: 'groq', model: 'whisper-large-v3' }, 'provider: is not a provider'],
    [
      'Anthropic-type',
      { provider: 'claude', model: 'claude-sonnet-5' },
      'provider: cannot serve endpoints of style "responses"',
    ],
    [
      'Groq-type',
      { provider: 'fast', model: 'whisper-large-v3' },
      'provider: cannot serve endpoints of style "responses"',
    ],
    ['a model without a price', { ...PRICED, model: UNPRICED }, `model: "${UNPRICED}" has no price`],
    [
      'another instance’s custom price',
      { provider: 'second-key', model: UNPRICED },
      `model: "${UNPRICED}" has no price`,
    ],
    ['a prototype name for a model', { ...PRICED, model: 'constructor' }, 'model: "constructor" has no price'],
  ];

  it.each(wrong)('primary: %s → 400 naming it', async (_name, target, problem) => {
    expect(await refusalOf(withEndpoint(target))).toEqual([
      400,
      expect.stringContaining(`config.endpoints.say.${problem}`),
    ]);
  });

  it.each(wrong)('second fallback: %s → 400 naming it', async (_name, target, problem) => {
    const fallback = [{ provider: 'second-key', model: 'gpt-4.1' }, target];
    expect(await refusalOf(withEndpoint({ ...PRICED, fallback }))).toEqual([
      400,
      expect.stringContaining(`config.endpoints.say.fallback.1.${problem}`),
    ]);
  });

  it.each<[string, object]>([
    ['Groq-type, transcription', { api_style: 'transcription', provider: 'fast', model: 'whisper-large-v3' }],
    [
      'an aggregating gateway, transcription',
      { api_style: 'transcription', provider: 'through-vercel', model: 'whisper-1' },
    ],
  ])('%s → 400: that style is not served', async (_name, endpoint) => {
    expect(await refusalOf(withEndpoint(endpoint))).toEqual([
      400,
      'config.endpoints.say.provider: cannot serve endpoints of style "transcription"',
    ]);
  });

  it.each<[string, object]>([
    ['both families', { ...PRICED, fallback: [{ provider: 'grok', model: 'grok-4.5' }] }],
    ['two keys of one type', { ...PRICED, fallback: [{ ...PRICED, provider: 'second-key' }] }],
    ['its own custom price', { provider: 'own-price', model: UNPRICED }],
    ['routed through cf_aig', { provider: 'through-cf', model: 'gpt-4.1' }],
    ['routed through vercel', { provider: 'through-vercel', model: 'gpt-4.1', fallback: [PRICED] }],
    ['transcription through cf_aig', { api_style: 'transcription', provider: 'through-cf', model: 'whisper-1' }],
    [
      'transcription of both families',
      {
        api_style: 'transcription',
        ...PRICED,
        model: 'whisper-1',
        fallback: [{ provider: 'grok', model: 'grok-transcribe' }],
      },
    ],
  ])('%s → accepted, and its check passes', async (_name, endpoint) => {
    const { id } = await created(withEndpoint(endpoint));
    const { status, body } = await world.api.get(`${APPS}/${id}/check`);
    expect([status, body.validation]).toEqual([200, { valid: true, app_id: id }]);
  });

  it('a paused provider → accepted: it may be resumed', async () => {
    const { id } = await world.provider({ slug: 'resting' });
    await world.api.put(`/v1/admin/providers/${id}`, { status: 'disabled' });
    await created(withEndpoint({ ...PRICED, provider: 'resting', fallback: [{ ...PRICED, provider: 'resting' }] }));
  });
});

describe('targets that are removed later', () => {
  it('provider deleted → check, validate and replace still pass; a new application is refused', async () => {
    const gone = await world.provider({ slug: 'gone-target' });
    const config = withEndpoint({ ...PRICED, fallback: [{ ...PRICED, provider: 'gone-target' }] });
    const app = await created(config);
    expect((await world.api.delete(`/v1/admin/providers/${gone.id}`)).status).toBe(200);
    const path = `${APPS}/${app.id}`;
    expect((await world.api.get(`${path}/check`)).body.validation.valid).toBe(true);
    expect((await world.api.post(`${path}/validate`, { name: 'App', config })).status).toBe(200);
    const moved = withEndpoint({ ...PRICED, provider: 'gone-target', model: UNPRICED });
    expect((await world.api.put(path, { name: 'App', config: moved, revision: app.revision })).status).toBe(200);
    expect((await world.api.post(APPS, { name: 'New', config })).status).toBe(400);
    expect((await world.api.post(`${APPS}/${stored.id}/validate`, { name: 'App', config })).status).toBe(400);
  });

  it('custom price removed → the check of the stored application reports it, since the provider exists', async () => {
    const { id } = await world.provider({ slug: 'price-goes', pricing: { [UNPRICED]: { input: 1, output: 1 } } });
    const app = await created(withEndpoint({ provider: 'price-goes', model: UNPRICED }));
    expect((await world.api.put(`/v1/admin/providers/${id}`, { pricing: null })).status).toBe(200);
    const { status, body } = await world.api.get(`${APPS}/${app.id}/check`);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('config.endpoints.say.model')]);
  });
});

describe('params, checked by the rules of a call', () => {
  const viaVercel = { provider: 'through-vercel', model: 'gpt-4.1' };
  it.each<[string, object, object, string]>([
    ['work in the background', { background: true }, {}, 'background: requests that run in the background'],
    ['a text where a switch belongs', { background: 'no' }, {}, 'background: must be true or false'],
    ['a dearer tier', { service_tier: 'priority' }, {}, 'service_tier: cannot be priced'],
    ['other models', { fallbacks: ['o3'] }, {}, 'fallbacks: cannot be used'],
    ['tools that are not a list', { tools: { type: 'web_search' } }, {}, 'tools: must be an array'],
    [
      'a limit above the cap',
      { max_output_tokens: 101 },
      { max_output_tokens: 100 },
      'max_output_tokens: 101 is above',
    ],
    ['a limit that is a text', { max_output_tokens: '5' }, {}, 'max_output_tokens: must be a number'],
    ['a limit below zero', { max_output_tokens: -1 }, {}, 'max_output_tokens: must be a whole number'],
    ['a response id that is a number', { previous_response_id: 7 }, {}, 'previous_response_id: must be a non-empty'],
    ['a judged name in other case', { Max_Output_Tokens: 5 }, {}, 'max_output_tokens: "Max_Output_Tokens"'],
    ['models on a gateway that would take them', { models: ['o3'] }, viaVercel, 'models: cannot be used'],
    ['models on a fallback there', { models: ['o3'] }, { fallback: [viaVercel] }, 'models: cannot be used'],
    [
      'an option of the gateway that is ours',
      { providerOptions: { gateway: { byok: {} } } },
      viaVercel,
      'providerOptions.gateway.byok: cannot be used',
    ],
  ])('%s → 400 naming it', async (_name, params, endpoint, problem) => {
    const [status, message] = await refusalOf(withEndpoint({ ...PRICED, ...endpoint, params }));
    expect([status, message.startsWith(`config.endpoints.say.params.${problem}`) ? problem : message]).toEqual([
      400,
      problem,
    ]);
  });

  it.each<[string, object, object]>([
    ['what only a gateway reads, without one', { models: ['o3'], providerOptions: { gateway: { byok: {} } } }, {}],
    ['objects kept at the provider', { prompt: { id: 'pmpt_1' }, tools: [] }, {}],
    ['the cap itself', { max_output_tokens: 100 }, { max_output_tokens: 100 }],
    ['null, which counts as absent', { background: null, service_tier: null, max_output_tokens: null }, {}],
  ])('%s → accepted', async (_name, params, endpoint) => {
    await created(withEndpoint({ ...PRICED, ...endpoint, params }));
  });

  it('a target is recreated behind a gateway → the check says what no longer works, the other endpoint serves, pausing works', async () => {
    const { id } = await world.provider({ slug: 'moves' });
    const target = { api_style: 'responses', provider: 'moves', model: 'gpt-4.1' };
    const config = {
      ...rawServerConfig(),
      endpoints: { odd: { ...target, params: { models: ['o3'] } }, even: target },
    };
    const app = await world.app(config);
    const providerGatewayId = await stage.gateway('vercel');
    await world.api.delete(`/v1/admin/providers/${id}`);
    await world.provider({ slug: 'moves', secret: undefined, baseUrl: undefined, providerGatewayId });
    const path = `${APPS}/${app.id}`;
    const check = await world.api.get(`${path}/check`);
    expect([check.status, check.body.error.message]).toEqual([
      400,
      'config.endpoints.odd.params.models: cannot be used through the gateway',
    ]);
    const call = (slug: string) => world.as(app.key).post(`/v1/apps/${app.id}/endpoints/${slug}`, { input: 'Hi' });
    stage.edge.script(json(200, ANSWER));
    expect([(await call('odd')).status, (await call('even')).status]).toEqual([400, 200]);
    const { body } = await world.api.get(path);
    const pause = { name: 'App', status: 'disabled', config: body.app.config, revision: body.app.revision };
    expect((await world.api.put(path, pause)).status).toBe(200);
  });

  it.each<[string, string, string | undefined]>([
    ['an integer beyond double precision', '9007199254740993', 'seed'],
    ['more digits than are kept', '3.14159265358979323846', 'seed'],
    ['beyond the largest', '1e400', 'seed'],
    ['below the smallest', '1e-400', 'seed'],
    ['the same in a list within an object', '{"a":[0,12345678901234567890]}', 'seed.a.1'],
    ['large, exact', '9007199254740992', undefined],
    ['a fraction of 17 digits', '0.30000000000000004', undefined],
    ['in other spellings', '[1.0, 1E2, -0, 1e-7, 100000000000000000000000]', undefined],
  ])('a number %s, %s → refused: %s', async (_name, literal, place) => {
    const config = JSON.stringify(withEndpoint({ ...PRICED, params: { seed: 'LITERAL' } })).replace(
      '"LITERAL"',
      literal,
    );
    const answer = await world.api.post(APPS, undefined, { raw: `{"name":"App","config":${config}}` });
    if (place === undefined) expect(answer.status).toBe(201);
    else {
      const problem = 'does not fit into double precision; send fewer digits, or a text';
      const message = `config.endpoints.say.params.${place}: ${problem}`;
      expect([answer.status, answer.body.error]).toEqual([
        400,
        expect.objectContaining({ code: 'invalid_request', message }),
      ]);
    }
  });
});

describe('reports of applications with endpoints', () => {
  it('referenced_providers → selection, targets and fallbacks; reach → only the routing; check → both', async () => {
    const selected = { 'second-key': { allowed_paths: [], allowed_models: [] } };
    const fallback = [
      { provider: 'through-cf', model: 'gpt-4.1' },
      { provider: 'grok', model: 'grok-4.5' },
    ];
    const endpoints = { say: { api_style: 'responses', ...PRICED, fallback } };
    const { id } = await created({ ...rawSelection(selected), endpoints });
    const { body } = await world.api.get(APPS);
    const summary = body.apps.find((app: { id: string }) => app.id === id);
    expect([...summary.referenced_providers].sort()).toEqual(['grok', 'openai', 'second-key', 'through-cf']);
    expect(summary.providers).toEqual(['second-key']);
    const check = await world.api.get(`${APPS}/${id}/check`);
    const slugs = check.body.providers.map(({ slug }: { slug: string }) => slug);
    expect([check.body.ready, slugs.sort()]).toEqual([true, ['grok', 'openai', 'second-key', 'through-cf']]);
    expect(check.body.endpoints).toEqual([{ slug: 'say', ready: true, problem: null }]);
    expect(check.text).not.toContain(GATEWAY_TOKEN);
  });

  it('check: an application with only endpoints → ready while one of them works; the others are named', async () => {
    const { id: providerId } = await world.provider({ slug: 'of-endpoint' });
    const say = { api_style: 'responses', ...PRICED, provider: 'of-endpoint', fallback: [] };
    const { id } = await created({ ...rawSelection({}), endpoints: { say } });
    const check = async () => (await world.api.get(`${APPS}/${id}/check`)).body;
    expect(await check()).toMatchObject({ ready: true, endpoints: [{ slug: 'say', ready: true, problem: null }] });
    await world.api.put(`/v1/admin/providers/${providerId}`, { status: 'disabled' });
    expect(await check()).toMatchObject({
      ready: false,
      providers: [{ slug: 'of-endpoint', status: 'disabled' }],
      endpoints: [{ slug: 'say', ready: false, problem: 'provider_disabled' }],
    });
    await world.api.delete(`/v1/admin/providers/${providerId}`);
    expect(await check()).toMatchObject({
      ready: false,
      providers: [],
      endpoints: [{ slug: 'say', ready: false, problem: 'provider_not_configured' }],
    });
  });

  it('the returned configuration → params and fallback as sent, an absent fallback as an empty list', async () => {
    const params = { text: { format: { type: 'text' } }, tools: [], temperature: null, constructor: { a: 1 } };
    const { id } = await created(withEndpoint({ ...PRICED, params, max_output_tokens: 5 }));
    const { body } = await world.api.get(`${APPS}/${id}`);
    expect(body.app.config.endpoints).toEqual({
      say: { api_style: 'responses', ...PRICED, params, max_output_tokens: 5, fallback: [] },
    });
  });
});
