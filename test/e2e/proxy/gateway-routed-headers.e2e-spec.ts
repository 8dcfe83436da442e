import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { GATEWAY_TOKEN, onlyRequest, ROUTED_RESPONSE, routedSuite } from '../../support/upstream-gateway-world.js';

const PASSED = ['cf-aig-cache-ttl', 'cf-aig-skip-cache', 'cf-aig-max-attempts', 'cf-aig-backoff', 'cf-aig-retry-delay'];

const suite = routedSuite();
const sent = () => onlyRequest(suite.stage);

describe('headers from the client', () => {
  const FORGED = ['cf-aig-authorization', 'cf-aig-metadata', 'ai-reporting-user', 'ai-reporting-tags', 'x-api-key'];
  const headers = [...FORGED, ...PASSED, 'cf-aig-custom-cost', 'cf-aig-byok-alias'].flatMap((name) => [name, 'client']);
  const namesSent = (request: ReturnType<typeof sent>) =>
    request.rawHeaders.flatMap((text, at) => (at % 2 === 0 && request.rawHeaders[at + 1] === 'client' ? [text] : []));

  it('on cf_aig → the five for the gateway are forwarded, those of this service cannot be forged or duplicated', async () => {
    const { client } = await suite.stage.routed('cf_aig');
    await client.call('v1/responses', { body: { model: 'gpt-4.1' }, headers });
    expect(namesSent(sent()).sort()).toEqual([...PASSED].sort());
    expect(sent().rawHeaders.filter((text) => text === 'cf-aig-metadata')).toHaveLength(1);
    expect(sent().header('cf-aig-authorization')).toBe(`Bearer ${GATEWAY_TOKEN}`);
    expect(sent().header('authorization')).toBeUndefined();
  });

  it('on vercel and directly → none of them are forwarded', async () => {
    const { client } = await suite.stage.routed('vercel');
    await client.call('v1/responses', { body: { model: 'gpt-4.1' }, headers });
    expect(namesSent(sent())).toEqual([]);
    const direct = await ProxyClient.create(suite.stage.world);
    await direct.call('v1/responses', { body: { model: 'gpt-4.1' }, headers });
    const [request] = suite.stage.world.upstream.requests;
    expect(request && namesSent(request)).toEqual([]);
  });
});

describe('token of the gateway', () => {
  it('in an answer → masked', async () => {
    for (const kind of ['cf_aig', 'vercel'] as const) {
      const { client } = await suite.stage.routed(kind);
      suite.stage.edge.script(json(200, { ...ROUTED_RESPONSE, echo: `Bearer ${GATEWAY_TOKEN}` }));
      const answer = await client.call('v1/responses', { body: { model: 'gpt-4.1' } });
      expect(answer.body.toString()).toContain('echo');
      expect(answer.body.toString()).not.toContain(GATEWAY_TOKEN);
    }
  });

  it('rotated during traffic → every call is answered, and every later call uses the new token', async () => {
    const { client, gatewayId } = await suite.stage.routed('cf_aig');
    const call = (user: string) => client.call('v1/responses', { body: { model: 'gpt-4.1', user } });
    let isRunning = true;
    const statuses: number[] = [];
    const traffic = Array.from({ length: 4 }, async () => {
      while (isRunning) statuses.push((await call('any')).status);
    });
    await call('before');
    const path = `/v1/admin/provider-gateways/${gatewayId}/rotate`;
    expect((await suite.stage.world.api.post(path, { token: 'token-two' })).status).toBe(200);
    for (let times = 0; times < 10; times++) await call('after');
    isRunning = false;
    await Promise.all(traffic);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const tokensOf = (user: string) =>
      suite.stage.edge.requests
        .filter(({ body }) => JSON.parse(body.toString()).user === user)
        .map((request) => request.header('cf-aig-authorization'));
    expect(tokensOf('before')).toEqual([`Bearer ${GATEWAY_TOKEN}`]);
    expect(tokensOf('after')).toEqual(Array(10).fill('Bearer token-two'));
  });

  it('revoked, or impossible to open → 502 provider_unavailable on that instance only, nothing sent', async () => {
    const { client, gatewayId } = await suite.stage.routed('cf_aig');
    const { client: other } = await suite.stage.routed('cf_aig');
    const call = (of: ProxyClient) => of.call('v1/responses', { body: { model: 'gpt-4.1' } });
    expect((await call(client)).status).toBe(200);
    for (const change of ["status = 'revoked'", "status = 'active', secret_blob = 'x'"]) {
      const [{ organization_id: account }] = await suite.stage.world.dataSource.query(
        `WITH changed AS (UPDATE provider_gateways SET ${change} WHERE id = $1 RETURNING organization_id)
         SELECT organization_id FROM changed`,
        [gatewayId],
      );
      await suite.stage.world.dataSource.query("SELECT pg_notify('gateway_config', $1)", [
        JSON.stringify(['provider_gateways', account]),
      ]);
      // Changes by another instance take effect here within a second.
      await eventually(async () => (await call(client)).status === 502, { withinMs: 10_000 });
      suite.stage.edge.forget();
      expect(refusalOf(await call(client))).toEqual([502, 'provider_unavailable']);
      expect(suite.stage.edge.requests).toHaveLength(0);
      expect((await call(other)).status).toBe(200);
    }
  });
});
