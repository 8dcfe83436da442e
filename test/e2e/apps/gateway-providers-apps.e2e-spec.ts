import { describe, expect, it } from '@jest/globals';
import { codeOf } from '../../support/api-client.js';
import { rawServerConfig } from '../../support/apps/app-configs.js';
import { gatewaySuite } from '../../support/upstream-gateway-world.js';

const PATH = '/v1/admin/providers';
const KEY = 'sk-the-very-secret-key-7777';

const suite = gatewaySuite();

describe('configurations that name routed providers', () => {
  const APPS = '/v1/admin/apps';
  const withEndpoint = (endpoint: object) => ({
    ...rawServerConfig(),
    endpoints: { say: { fallback: [], ...endpoint } },
  });
  const TRANSCRIBE = { api_style: 'transcription', provider: 'routed', model: 'whisper-1' };
  const RESPOND = { api_style: 'responses', provider: 'routed', model: 'gpt-4.1' };

  it('endpoint of style transcription on a vercel-routed provider → refused by create, replace and validate', async () => {
    await suite.created({ slug: 'routed', providerGatewayId: suite.vercel });
    const config = withEndpoint(TRANSCRIBE);
    const app = (await suite.stage.world.api.post(APPS, { name: 'App', config: withEndpoint(RESPOND) })).body.app;
    const body = { name: 'App', config };
    const refused = [
      await suite.stage.world.api.post(APPS, body),
      await suite.stage.world.api.put(`${APPS}/${app.id}`, { ...body, revision: app.revision }),
      await suite.stage.world.api.post(`${APPS}/${app.id}/validate`, body),
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
    await suite.created({ slug: 'own', secret: KEY });
    const fallback = await suite.stage.world.api.post(APPS, { name: 'Other', config: asFallback });
    expect(fallback.body.error.message).toMatch(/endpoints\.say\.fallback\.0\.provider: /);
  });

  it('provider that served transcription, now routed through vercel → the check of the stored application fails', async () => {
    const direct = await suite.created({ slug: 'routed', secret: KEY });
    const { app } = (await suite.stage.world.api.post(APPS, { name: 'App', config: withEndpoint(TRANSCRIBE) })).body;
    expect((await suite.stage.world.api.get(`${APPS}/${app.id}/check`)).status).toBe(200);
    await suite.stage.world.api.delete(`${PATH}/${direct.id}`);
    await suite.created({ slug: 'routed', providerGatewayId: suite.vercel });
    const answer = await suite.stage.world.api.get(`${APPS}/${app.id}/check`);
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message).toMatch(/endpoints\.say\.provider: /);
  });

  it('the same on cf_aig or a direct provider → accepted', async () => {
    await suite.created({ slug: 'routed', providerGatewayId: suite.cf });
    const answer = await suite.stage.world.api.post(APPS, { name: 'App', config: withEndpoint(TRANSCRIBE) });
    expect(answer.status).toBe(201);
  });

  it('xai routed through vercel → a model needs a price; direct and on cf_aig its answers report the cost', async () => {
    const config = withEndpoint({ ...RESPOND, model: 'no-price-anywhere' });
    const ways = [
      [suite.vercel, 400],
      [suite.cf, 201],
      [undefined, 201],
    ] as const;
    for (const [providerGatewayId, status] of ways) {
      const way = providerGatewayId === undefined ? { secret: KEY } : { providerGatewayId };
      const { id } = await suite.created({ type: 'xai', slug: 'routed', ...way });
      const answer = await suite.stage.world.api.post(APPS, { name: 'App', config });
      expect(answer.status).toBe(status);
      await suite.stage.world.api.delete(`${PATH}/${id}`);
    }
  });
});
