import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ApiAnswer } from '../support/api-client.js';
import { rawServerConfig } from '../support/app-configs.js';
import { GATEWAY_TOKEN, type GatewayWorld, startGatewayWorld } from '../support/gateway-world.js';
import { json } from '../support/upstream-scripts.js';

const PATH = '/v1/admin/providers';
const KEY = 'sk-the-very-secret-key-7777';

let stage: GatewayWorld;
let cf: string;
let vercel: string;

beforeAll(async () => {
  stage = await startGatewayWorld();
});

beforeEach(async () => {
  stage.edge.forget();
  stage.edge.script(json(200, { data: [] }));
  cf = await stage.gateway('cf_aig');
  vercel = await stage.gateway('vercel');
});

afterEach(async () => {
  expect(JSON.stringify(stage.world.logs)).not.toContain(GATEWAY_TOKEN);
  await stage.world.dataSource.query('DELETE FROM providers');
  await stage.world.dataSource.query('DELETE FROM provider_gateways');
});

afterAll(() => stage.stop());

const create = (members: object) => stage.world.api.post(PATH, { type: 'openai', name: 'Routed', ...members });

async function created(members: object): Promise<{ id: string; slug: string }> {
  const answer = await create(members);
  expect(answer.status).toBe(201);
  expect(answer.text).not.toContain(GATEWAY_TOKEN);
  return answer.body.provider;
}

const codeOf = ({ status, body }: ApiAnswer) => [status, body.error?.code];

describe('configurations that name routed providers', () => {
  const APPS = '/v1/admin/apps';
  const withEndpoint = (endpoint: object) => ({
    ...rawServerConfig(),
    endpoints: { say: { fallback: [], ...endpoint } },
  });
  const TRANSCRIBE = { api_style: 'transcription', provider: 'routed', model: 'whisper-1' };
  const RESPOND = { api_style: 'responses', provider: 'routed', model: 'gpt-4.1' };

  it('endpoint of style transcription on a vercel-routed provider → refused by create, replace and validate alike', async () => {
    await created({ slug: 'routed', providerGatewayId: vercel });
    const config = withEndpoint(TRANSCRIBE);
    const app = (await stage.world.api.post(APPS, { name: 'App', config: withEndpoint(RESPOND) })).body.app;
    const body = { name: 'App', config };
    const refused = [
      await stage.world.api.post(APPS, body),
      await stage.world.api.put(`${APPS}/${app.id}`, { ...body, revision: app.revision }),
      await stage.world.api.post(`${APPS}/${app.id}/validate`, body),
    ];
    for (const answer of refused) {
      expect(codeOf(answer)).toEqual([400, 'invalid_request']);
      expect(answer.body.error.message).toMatch(/endpoints\.say\.provider: /);
    }
    const asFallback = withEndpoint({
      ...TRANSCRIBE,
      provider: 'own',
      fallback: [{ provider: 'routed', model: 'whisper-1' }],
    });
    await created({ slug: 'own', secret: KEY });
    const fallback = await stage.world.api.post(APPS, { name: 'Other', config: asFallback });
    expect(fallback.body.error.message).toMatch(/endpoints\.say\.fallback\.0\.provider: /);
  });

  it('provider that served transcription, now routed through vercel → the check of the stored application fails', async () => {
    const direct = await created({ slug: 'routed', secret: KEY });
    const { app } = (await stage.world.api.post(APPS, { name: 'App', config: withEndpoint(TRANSCRIBE) })).body;
    expect((await stage.world.api.get(`${APPS}/${app.id}/check`)).status).toBe(200);
    await stage.world.api.delete(`${PATH}/${direct.id}`);
    await created({ slug: 'routed', providerGatewayId: vercel });
    const answer = await stage.world.api.get(`${APPS}/${app.id}/check`);
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message).toMatch(/endpoints\.say\.provider: /);
  });

  it('the same on cf_aig or a direct provider → accepted', async () => {
    await created({ slug: 'routed', providerGatewayId: cf });
    const answer = await stage.world.api.post(APPS, { name: 'App', config: withEndpoint(TRANSCRIBE) });
    expect(answer.status).toBe(201);
  });

  it('xai routed through vercel → a model needs a price; direct and on cf_aig its answers tell the cost', async () => {
    const config = withEndpoint({ ...RESPOND, model: 'no-price-anywhere' });
    const ways = [
      [vercel, 400],
      [cf, 201],
      [undefined, 201],
    ] as const;
    for (const [providerGatewayId, status] of ways) {
      const way = providerGatewayId === undefined ? { secret: KEY } : { providerGatewayId };
      const { id } = await created({ type: 'xai', slug: 'routed', ...way });
      const answer = await stage.world.api.post(APPS, { name: 'App', config });
      expect(answer.status).toBe(status);
      await stage.world.api.delete(`${PATH}/${id}`);
    }
  });
});
