import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ApiAnswer } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { type ScriptedUpstream, startUpstream } from '../../support/proxy/upstream.js';
import { emptyBody, json, redirect, resetBeforeAnswer, silence } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/provider-gateways';
const TOKEN = 'the-very-secret-gateway-token-7777';
const CF_AIG = { type: 'cf_aig', token: TOKEN, accountId: 'account-1', gatewayId: 'my.gateway' };
const VERCEL = { type: 'vercel', token: TOKEN };

let upstream: ScriptedUpstream;
let world: World;

beforeAll(async () => {
  upstream = await startUpstream();
  const env = { CF_AIG_BASE_URL: `${upstream.url}/cf/v1/`, VERCEL_AI_GATEWAY_BASE_URL: `${upstream.url}/vercel/` };
  world = await startWorld({ env });
});

beforeEach(() => {
  upstream.forget();
  upstream.script(json(200, { data: [] }));
});

afterEach(async () => {
  expect(JSON.stringify(world.logs)).not.toContain(TOKEN);
  expect((await world.api.get(PATH)).body).toEqual({ gateways: [] });
});

afterAll(async () => {
  await world.stop();
  await upstream.close();
});

async function test(body: object): Promise<ApiAnswer> {
  const answer = await world.api.post(`${PATH}/test`, body);
  expect(answer.text).not.toContain(TOKEN);
  return answer;
}

describe('POST provider-gateways/test', () => {
  it.each([
    [CF_AIG, '/cf/v1/account-1/my.gateway/openai/models', 'cf-aig-authorization', 'authorization'],
    [VERCEL, '/vercel/v1/credits', 'authorization', 'cf-aig-authorization'],
  ])('%j, accepted → validated by one GET to its own address', async (body, path, header, none) => {
    const answer = await test(body);
    expect([answer.status, answer.body]).toEqual([200, { validated: true }]);
    expect(upstream.requests.map((sent) => `${sent.method} ${sent.path}`)).toEqual([`GET ${path}`]);
    expect(upstream.requests[0]?.header(header)).toBe(`Bearer ${TOKEN}`);
    expect(upstream.requests[0]?.header(none)).toBeUndefined();
  });

  describe.each([CF_AIG, VERCEL])('$type', (body) => {
    it.each([401, 403])('gateway answers %i → rejected, reported in the body, not as an error', async (status) => {
      upstream.script(json(status, { error: `no such token: ${TOKEN}` }));
      const answer = await test(body);
      expect([answer.status, answer.body]).toEqual([200, { validated: false, reason: 'rejected', status }]);
    });

    it.each([400, 402, 404, 418, 429, 500, 503])('gateway answers %i → unexpected_status', async (status) => {
      upstream.script(json(status, { error: TOKEN }));
      expect((await test(body)).body).toEqual({ validated: false, reason: 'unexpected_status', status });
    });

    it('redirect → not followed', async () => {
      upstream.script(redirect(307, `${upstream.url}/elsewhere`));
      expect((await test(body)).body).toEqual({ validated: false, reason: 'unexpected_status', status: 307 });
      expect(upstream.requests).toHaveLength(1);
    });

    it('connection reset → unreachable', async () => {
      upstream.script(resetBeforeAnswer());
      expect((await test(body)).body).toEqual({ validated: false, reason: 'unreachable' });
    });
  });

  it('answer without a body → validated', async () => {
    upstream.script(emptyBody(204));
    expect((await test(VERCEL)).body).toEqual({ validated: true });
  });

  it('endless body → not read', async () => {
    upstream.script(({ response }) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'.repeat(10_000)), 1);
      response.on('close', () => clearInterval(timer));
    });
    expect((await test(CF_AIG)).body).toEqual({ validated: true });
    await eventually(() => upstream.openConnections() === 0, { withinMs: 10_000 });
  });

  it('silence → unreachable, after four seconds and before any answer', async () => {
    upstream.script(silence());
    const startedAt = performance.now();
    expect((await test(VERCEL)).body).toEqual({ validated: false, reason: 'unreachable' });
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThan(3_900);
  });

  it.each<[string, object, string]>([
    ['unknown type', { ...VERCEL, type: 'openai' }, 'type: must be one of "cf_aig", "vercel"'],
    ['name', { ...VERCEL, name: 'n' }, 'name: is not a known member'],
    ['place on vercel', { ...VERCEL, gatewayId: 'g' }, 'gatewayId: is not a known member'],
    ['no place', { ...CF_AIG, accountId: undefined }, 'accountId: is required'],
    ['place that leads elsewhere', { ...CF_AIG, accountId: '..' }, 'accountId: must be'],
    ['place that leads elsewhere', { ...CF_AIG, gatewayId: '../../other' }, 'gatewayId: must be'],
    ['no token', { ...VERCEL, token: undefined }, 'token: is required'],
    ['token with a line end', { ...VERCEL, token: `${TOKEN}\r\nx-evil: 1` }, 'token: must be'],
  ])('%s → 400 naming the path, nothing is sent', async (_what, body, message) => {
    const answer = await test(body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message.startsWith(message)).toBe(true);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('misconfigured vault', () => {
  const STORED = 'c0ffee00-0000-4000-8000-000000000001';
  let broken: World;

  beforeAll(async () => {
    const env = { SECRET_VAULT_LOCAL_KEK_V1: 'not-a-key', VERCEL_AI_GATEWAY_BASE_URL: `${upstream.url}/vercel/` };
    broken = await startWorld({ env });
    await broken.dataSource.query(
      `INSERT INTO provider_gateways (id, organization_id, type, name, config, secret_blob, secret_hint, revision,
                                      status, created_by, created_at, updated_at)
       SELECT $1, id, 'vercel', 'First', '{}', 'local1.1.x.y', 'abcd', 1, 'active', 'someone', now(), now()
         FROM organizations`,
      [STORED],
    );
  });

  afterAll(() => broken.stop());

  it('writes that seal a secret → 502 provider_unavailable, nothing stored; an unknown gateway is still 404', async () => {
    const create = await broken.api.post(PATH, { ...VERCEL, name: 'New' });
    const rotate = await broken.api.post(`${PATH}/${STORED}/rotate`, { token: TOKEN });
    for (const answer of [create, rotate]) {
      expect([answer.status, answer.body.error.code]).toEqual([502, 'provider_unavailable']);
    }
    expect((await broken.api.post(`${PATH}/nobody-has-this/rotate`, { token: TOKEN })).status).toBe(404);
    const { gateways } = (await broken.api.get(PATH)).body;
    expect(gateways).toEqual([expect.objectContaining({ id: STORED, revision: 1, secretHint: 'abcd' })]);
  });

  it('everything else → keeps working', async () => {
    expect((await broken.api.post(`${PATH}/test`, VERCEL)).body).toEqual({ validated: true });
    expect((await broken.api.send('PATCH', `${PATH}/${STORED}`, { name: 'Renamed' }, {})).status).toBe(200);
    expect((await broken.api.delete(`${PATH}/${STORED}`)).status).toBe(200);
  });
});
