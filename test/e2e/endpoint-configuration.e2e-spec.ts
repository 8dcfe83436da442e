import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rawSelection, rawServerConfig } from '../support/app-configs.js';
import { GATEWAY_TOKEN, type GatewayWorld, startGatewayWorld } from '../support/gateway-world.js';
import type { World } from '../support/world.js';

const APPS = '/v1/admin/apps';
const PRICED = { provider: 'openai', model: 'gpt-4.1' };
const UNPRICED = 'gpt-of-tomorrow';

let stage: GatewayWorld;
let world: World;
/** Of an application whose endpoint everybody accepts. */
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

/** What create, replace and validate say of a configuration: always the same. */
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

describe('endpoint targets on create, replace and validate (contract-admin 2.6; specification, "Named endpoint")', () => {
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

  it('a provider that is paused → accepted: it may come back', async () => {
    const { id } = await world.provider({ slug: 'resting' });
    await world.api.put(`/v1/admin/providers/${id}`, { status: 'disabled' });
    await created(withEndpoint({ ...PRICED, provider: 'resting', fallback: [{ ...PRICED, provider: 'resting' }] }));
  });
});

describe('targets that go away later (contract-admin 2.6, "Grandfathering")', () => {
  it('provider deleted → check, validate and replace still pass; a new application gets no grace', async () => {
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

  it('custom price taken away → the check of the stored application says so: the provider is there to be judged', async () => {
    const { id } = await world.provider({ slug: 'price-goes', pricing: { [UNPRICED]: { input: 1, output: 1 } } });
    const app = await created(withEndpoint({ provider: 'price-goes', model: UNPRICED }));
    expect((await world.api.put(`/v1/admin/providers/${id}`, { pricing: null })).status).toBe(200);
    const { status, body } = await world.api.get(`${APPS}/${app.id}/check`);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('config.endpoints.say.model')]);
  });
});

describe('what is told of applications with endpoints (contract-admin 2.4, 2.7)', () => {
  it('referenced_providers → selection, targets and fallbacks; reach, check and readiness → the routing alone', async () => {
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
    expect(check.body).toMatchObject({ ready: true, providers: [{ slug: 'second-key' }] });
    expect(check.text).not.toContain(GATEWAY_TOKEN);
  });

  it('the configuration answered → params and fallback as sent, an absent fallback as an empty list', async () => {
    const params = { text: { format: { type: 'text' } }, tools: [], temperature: null, constructor: { a: 1 } };
    const { id } = await created(withEndpoint({ ...PRICED, params, max_output_tokens: 5 }));
    const { body } = await world.api.get(`${APPS}/${id}`);
    expect(body.app.config.endpoints).toEqual({
      say: { api_style: 'responses', ...PRICED, params, max_output_tokens: 5, fallback: [] },
    });
  });
});
