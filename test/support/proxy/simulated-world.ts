import { startWorld, type World } from '../world.js';
import { DEFAULT_ANSWER, startProviderSimulator } from './provider-simulator.js';
import { ProxyClient } from './proxy-client.js';

/** The only credential the simulator accepts. */
export const PROVIDER_KEY = 'sk-simulated-provider-Zk3vQ9mX2pLr7';

/** A service of the suite's own in front of an independent simulator of one provider type. */
export type SimulatedWorld = Awaited<ReturnType<typeof startSimulatedWorld>>;

/** Starts both for one suite. Stop it in `afterAll`. */
export async function startSimulatedWorld(type: string) {
  const world = await startWorld();
  const simulator = await startProviderSimulator({ providerKey: PROVIDER_KEY });
  const { slug } = await world.provider({ type, secret: PROVIDER_KEY, baseUrl: `${simulator.url}/` });
  const urlOf = (app: { id: string }, providerSlug: string) =>
    `${world.baseUrl}/v1/apps/${app.id}/proxy/${providerSlug}`;
  return {
    world,
    simulator,
    /** The address of another provider instance for the same application. */
    urlOf,
    /** A new server application; its one provider is the simulated one, under this access policy. */
    async app(access: Record<string, unknown> = {}) {
      const selected = { [slug]: { allowed_paths: [], allowed_models: [], ...access } };
      const app = await world.app({ routing: { providers: { mode: 'selected', selected }, model_rewrites: {} } });
      // An SDK's version prefix comes after it.
      return { ...app, providerUrl: urlOf(app, slug) };
    },
    /** The application's usage event, once it is there; fails when there are more. */
    async event({ id, key }: { readonly id: string; readonly key: string }) {
      return (await new ProxyClient(world, id, key, slug, '').events())[0];
    },
    /** What the simulated answer costs in dollars, from the price list that the service publishes. */
    answerCostUsd: (model: string) => answerCostUsd(world, type, model),
    async stop() {
      await world.stop();
      await simulator.stop();
    },
  };
}

/** Dollars per million tokens times tokens, rounded to whole nano-dollars. */
async function answerCostUsd(world: World, type: string, model: string): Promise<number> {
  const { input, output } = (await world.api.get('/v1/admin/prices')).body.prices[type][model];
  const nanoUsd = (DEFAULT_ANSWER.inputTokens * input + DEFAULT_ANSWER.outputTokens * output) * 1_000;
  return Math.round(nanoUsd) / 1e9;
}
