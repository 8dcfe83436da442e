import { eventually } from '../eventually.js';
import { startWorld, type World } from '../world.js';
import { DEFAULT_ANSWER, type ProviderSimulator, startProviderSimulator } from './provider-simulator.js';

/** The only credential the simulator accepts. */
export const PROVIDER_KEY = 'sk-simulated-provider-Zk3vQ9mX2pLr7';

/** An application that may use the suite's provider. */
interface SimulatedApp {
  readonly id: string;
  readonly key: string;
  /** Where this application reaches the provider; an SDK's version prefix comes after it. */
  readonly providerUrl: string;
}

/** A service of the suite's own in front of an independent simulator of one provider type. */
export interface SimulatedWorld {
  readonly world: World;
  readonly simulator: ProviderSimulator;
  /** A new server application; its one provider is the simulated one, under this access policy. */
  app(access?: Record<string, unknown>): Promise<SimulatedApp>;
  /** The address of another provider instance for the same application. */
  urlOf(app: SimulatedApp, slug: string): string;
  /** Waits for the application's usage event; fails when there is none, or more than one. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape of the answer is proven by the OpenAPI check
  event(app: SimulatedApp): Promise<any>;
  /** What the simulated answer costs in dollars, from the price list that the service publishes. */
  answerCostUsd(model: string): Promise<number>;
  stop(): Promise<void>;
}

/** Starts both for one suite. Stop it in `afterAll`. */
export async function startSimulatedWorld(type: string): Promise<SimulatedWorld> {
  const world = await startWorld();
  const simulator = await startProviderSimulator({ providerKey: PROVIDER_KEY });
  const { slug } = await world.provider({ type, secret: PROVIDER_KEY, baseUrl: `${simulator.url}/` });
  const urlOf = (app: { id: string }, providerSlug: string) =>
    `${world.baseUrl}/v1/apps/${app.id}/proxy/${providerSlug}`;
  return {
    world,
    simulator,
    urlOf,
    async app(access = {}) {
      const selected = { [slug]: { allowed_paths: [], allowed_models: [], ...access } };
      const app = await world.app({ routing: { providers: { mode: 'selected', selected }, model_rewrites: {} } });
      return { ...app, providerUrl: urlOf(app, slug) };
    },
    event: (app) => onlyEvent(world, app.id),
    answerCostUsd: (model) => answerCostUsd(world, type, model),
    async stop() {
      await world.stop();
      await simulator.stop();
    },
  };
}

async function onlyEvent(world: World, appId: string): Promise<unknown> {
  let events: readonly unknown[] = [];
  await eventually(
    async () => {
      events = (await world.api.get(`/v1/admin/apps/${appId}/events`)).body.events;
      return events.length > 0;
    },
    { withinMs: 10_000 },
  );
  if (events.length !== 1) throw new Error(`expected one usage event, found ${JSON.stringify(events)}`);
  return events[0];
}

/** Dollars per million tokens times tokens, rounded to whole nano-dollars. */
async function answerCostUsd(world: World, type: string, model: string): Promise<number> {
  const { input, output } = (await world.api.get('/v1/admin/prices')).body.prices[type][model];
  const nanoUsd = (DEFAULT_ANSWER.inputTokens * input + DEFAULT_ANSWER.outputTokens * output) * 1_000;
  return Math.round(nanoUsd) / 1e9;
}
