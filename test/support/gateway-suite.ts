import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { ApiAnswer } from './api-client.js';
import { GATEWAY_TOKEN, type GatewayWorld, startGatewayWorld } from './gateway-world.js';
import { json } from './proxy/upstream-scripts.js';

/** What the tests of one suite share; read it inside of tests only. */
export class GatewaySuite {
  stage: GatewayWorld;
  /** Ids of a gateway of each kind, made anew for every test. */
  cf = '';
  vercel = '';

  create(members: object): Promise<ApiAnswer> {
    return this.stage.world.api.post('/v1/admin/providers', { type: 'openai', name: 'Routed', ...members });
  }

  async created(members: object): Promise<{ id: string; slug: string }> {
    const answer = await this.create(members);
    expect(answer.status).toBe(201);
    expect(answer.text).not.toContain(GATEWAY_TOKEN);
    return answer.body.provider;
  }
}

/**
 * A service for one suite about providers behind gateways. After every test no log line holds a token, and nothing is
 * left of providers and gateways.
 */
export function gatewaySuite(): GatewaySuite {
  const suite = new GatewaySuite();
  beforeAll(async () => {
    suite.stage = await startGatewayWorld();
  });
  beforeEach(async () => {
    suite.stage.edge.forget();
    suite.stage.edge.script(json(200, { data: [] }));
    suite.cf = await suite.stage.gateway('cf_aig');
    suite.vercel = await suite.stage.gateway('vercel');
  });
  afterEach(async () => {
    const { world } = suite.stage;
    expect(JSON.stringify(world.logs)).not.toContain(GATEWAY_TOKEN);
    await world.dataSource.query('DELETE FROM providers');
    await world.dataSource.query('DELETE FROM provider_gateways');
  });
  afterAll(() => suite.stage.stop());
  return suite;
}

/** What every call of a {@link routedSuite} is answered, unless a test says otherwise. */
export const ROUTED_RESPONSE = { id: 'resp_1', object: 'response', usage: { input_tokens: 10, output_tokens: 2 } };

/** A service for one suite about calls through gateways. */
export function routedSuite(): GatewaySuite {
  const suite = new GatewaySuite();
  beforeAll(async () => {
    suite.stage = await startGatewayWorld();
  });
  beforeEach(() => {
    suite.stage.edge.forget();
    suite.stage.world.upstream.forget();
    suite.stage.edge.script(json(200, ROUTED_RESPONSE));
  });
  afterAll(async () => {
    expect(JSON.stringify(suite.stage.world.logs)).not.toContain(GATEWAY_TOKEN);
    await suite.stage.stop();
  });
  return suite;
}

/** The only request the gateway got. */
export function onlyRequest({ edge }: GatewayWorld): GatewayWorld['edge']['requests'][number] {
  expect(edge.requests).toHaveLength(1);
  const [request] = edge.requests;
  if (request === undefined) throw new Error('one request expected');
  return request;
}
