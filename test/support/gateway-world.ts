import type { ApiClient } from './api-client.js';
import { type ClientOptions, ProxyClient } from './proxy/proxy-client.js';
import { type ScriptedUpstream, startUpstream } from './proxy/upstream.js';
import { startWorld, type World } from './world.js';

/** The token of every gateway that a {@link GatewayWorld} makes, unless a test says otherwise. */
export const GATEWAY_TOKEN = 'gateway-token-of-the-suite-8888';

/** A running service whose upstream gateways of both kinds are one scripted upstream. */
export interface GatewayWorld {
  readonly world: World;
  /** Stands behind the paths `/cf/` and `/vercel/`. */
  readonly edge: ScriptedUpstream;
  /** A gateway and its id: account `acc` and gateway `main` for `cf_aig`. */
  gateway(type: 'cf_aig' | 'vercel', api?: ApiClient): Promise<string>;
  /** A client of an instance behind a new gateway, and the gateway's id. */
  routed(type: 'cf_aig' | 'vercel', options?: ClientOptions): Promise<{ client: ProxyClient; gatewayId: string }>;
  stop(): Promise<void>;
}

/** Starts a service for one suite, with further settings. Stop it in `afterAll`. */
export async function startGatewayWorld(env: Readonly<Record<string, string>> = {}): Promise<GatewayWorld> {
  const edge = await startUpstream();
  const world = await startWorld({
    env: { CF_AIG_BASE_URL: `${edge.url}/cf/`, VERCEL_AI_GATEWAY_BASE_URL: `${edge.url}/vercel/`, ...env },
  }).catch(async (error: unknown) => {
    await edge.close();
    throw error;
  });
  const gateway: GatewayWorld['gateway'] = async (type, api = world.api) => {
    const place = type === 'cf_aig' ? { accountId: 'acc', gatewayId: 'main' } : {};
    const body = { type, name: 'Edge', token: GATEWAY_TOKEN, ...place };
    const answer = await api.post('/v1/admin/provider-gateways', body);
    if (answer.status !== 201) throw new Error(`gateway: ${answer.status} ${answer.text}`);
    return answer.body.gateway.id;
  };
  return {
    world,
    edge,
    gateway,
    async routed(type, options = {}) {
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
