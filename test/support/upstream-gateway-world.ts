import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { ApiAnswer } from './api-client.js';
import { type ClientOptions, ProxyClient } from './proxy/proxy-client.js';
import { startUpstream } from './proxy/upstream.js';
import { json } from './proxy/upstream-scripts.js';
import { startWorld } from './world.js';

/** The token of every gateway that a {@link GatewayWorld} makes, unless a test says otherwise. */
export const GATEWAY_TOKEN = 'gateway-token-of-the-suite-8888';

type GatewayType = 'cf_aig' | 'vercel';

/** A running service whose upstream gateways of both kinds are one scripted upstream. */
export type GatewayWorld = Awaited<ReturnType<typeof startGatewayWorld>>;

/** Starts a service for one suite, with further settings. Stop it in `afterAll`. */
export async function startGatewayWorld(env: Readonly<Record<string, string>> = {}) {
  const edge = await startUpstream();
  const world = await startWorld({
    env: { CF_AIG_BASE_URL: `${edge.url}/cf/`, VERCEL_AI_GATEWAY_BASE_URL: `${edge.url}/vercel/`, ...env },
  }).catch(async (error: unknown) => {
    await edge.close();
    throw error;
  });
  /** A gateway's id: account `acc` and gateway `main` for `cf_aig`. */
  const gateway = async (type: GatewayType, api = world.api): Promise<string> => {
    const place = type === 'cf_aig' ? { accountId: 'acc', gatewayId: 'main' } : {};
    const body = { type, name: 'Edge', token: GATEWAY_TOKEN, ...place };
    const answer = await api.post('/v1/admin/provider-gateways', body);
    if (answer.status !== 201) throw new Error(`gateway: ${answer.status} ${answer.text}`);
    return answer.body.gateway.id;
  };
  return {
    world,
    /** Stands behind the paths `/cf/` and `/vercel/`. */
    edge,
    gateway,
    /** A client of an instance behind a new gateway, and the gateway's id. */
    async routed(type: GatewayType, options: ClientOptions = {}) {
      const gatewayId = await gateway(type);
      const provider = { ...options.provider, secret: undefined, baseUrl: undefined, providerGatewayId: gatewayId };
      return { gatewayId, client: await ProxyClient.create(world, { ...options, provider }) };
    },
    async stop() {
      await world.stop();
      await edge.close();
    },
  };
}

/** What the tests of one suite share; read it inside of tests only. */
export class GatewaySuite {
  stage: GatewayWorld;
  /** Ids of a gateway of each kind, made again for every test. */
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
