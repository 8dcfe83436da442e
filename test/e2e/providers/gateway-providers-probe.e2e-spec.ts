import { describe, expect, it } from '@jest/globals';
import { codeOf } from '../../support/api-client.js';
import { json, redirect, resetBeforeAnswer } from '../../support/proxy/upstream-scripts.js';
import { GATEWAY_TOKEN, gatewaySuite } from '../../support/upstream-gateway-world.js';

const PATH = '/v1/admin/providers';
const KEY = 'sk-the-very-secret-key-7777';
const VERCEL_TYPES = ['openai', 'anthropic', 'gemini', 'xai', 'perplexity', 'deepseek', 'moonshot'];

const suite = gatewaySuite();

describe('POST providers/test through a gateway', () => {
  const test = (type: string, providerGatewayId: string) =>
    suite.stage.world.api.post(`${PATH}/test`, { type, providerGatewayId });

  it.each([
    ['openai', '/cf/acc/main/openai/models'],
    ['anthropic', '/cf/acc/main/anthropic/v1/models'],
    ['xai', '/cf/acc/main/grok/v1/models'],
    ['gemini', '/cf/acc/main/google-ai-studio/v1beta/models'],
  ])('%s on cf_aig → validated by one GET of the type through the gateway', async (type, path) => {
    expect((await test(type, suite.cf)).body).toEqual({ validated: true });
    expect(suite.stage.edge.requests.map(({ method, path: sent }) => `${method} ${sent}`)).toEqual([`GET ${path}`]);
    expect(suite.stage.edge.requests[0]?.header('cf-aig-authorization')).toBe(`Bearer ${GATEWAY_TOKEN}`);
    for (const header of ['authorization', 'x-api-key', 'x-goog-api-key']) {
      expect(suite.stage.edge.requests[0]?.header(header)).toBeUndefined();
    }
    expect(suite.stage.edge.requests[0]?.header('anthropic-version')).toBe(
      type === 'anthropic' ? '2023-06-01' : undefined,
    );
    expect((await suite.stage.world.api.get(PATH)).body.providers).toEqual([]);
  });

  it('perplexity on cf_aig → no_probe, nothing is sent', async () => {
    expect((await test('perplexity', suite.cf)).body).toEqual({ validated: false, reason: 'no_probe' });
    expect(suite.stage.edge.requests).toHaveLength(0);
  });

  it.each(VERCEL_TYPES)('%s on vercel → validated by the credits route of the gateway', async (type) => {
    expect((await test(type, suite.vercel)).body).toEqual({ validated: true });
    expect(suite.stage.edge.requests.map(({ path }) => path)).toEqual(['/vercel/v1/credits']);
    expect(suite.stage.edge.requests[0]?.header('authorization')).toBe(`Bearer ${GATEWAY_TOKEN}`);
  });

  it.each([401, 403])('gateway answers %i → 400 provider_key_invalid, never the token', async (status) => {
    suite.stage.edge.script(json(status, { error: `no such token: ${GATEWAY_TOKEN}` }));
    const answer = await test('openai', suite.cf);
    expect(codeOf(answer)).toEqual([400, 'provider_key_invalid']);
    expect(answer.body.error.message).toBe(`The call through the gateway was refused with status ${status}.`);
    expect(answer.text).not.toContain(GATEWAY_TOKEN);
  });

  it('anything else → unexpected_status or unreachable; redirects are not followed', async () => {
    suite.stage.edge.script(json(500, {}));
    expect((await test('openai', suite.vercel)).body).toEqual({
      validated: false,
      reason: 'unexpected_status',
      status: 500,
    });
    suite.stage.edge.script(redirect(302, `${suite.stage.edge.url}/elsewhere`));
    expect((await test('openai', suite.cf)).body).toEqual({
      validated: false,
      reason: 'unexpected_status',
      status: 302,
    });
    suite.stage.edge.script(resetBeforeAnswer());
    expect((await test('openai', suite.cf)).body).toEqual({ validated: false, reason: 'unreachable' });
    expect(suite.stage.edge.requests).toHaveLength(3);
  });

  it('token that does not open → 502 provider_unavailable, nothing is sent', async () => {
    await suite.stage.world.dataSource.query('UPDATE provider_gateways SET secret_blob = $1 WHERE id = $2', [
      'x',
      suite.cf,
    ]);
    expect(codeOf(await test('openai', suite.cf))).toEqual([502, 'provider_unavailable']);
    expect(suite.stage.edge.requests).toHaveLength(0);
  });

  it.each([{ secret: KEY }, { baseUrl: 'https://ai.example.com' }, { gatewayRoute: { modelPrefix: 'a/' } }])(
    'with %j → 400',
    async (members) => {
      const answer = await suite.stage.world.api.post(`${PATH}/test`, {
        type: 'openai',
        providerGatewayId: suite.vercel,
        ...members,
      });
      expect(codeOf(answer)).toEqual([400, 'invalid_request']);
    },
  );
});
