import { createServer } from 'node:net';
import { eventually } from '../eventually.js';
import { listening } from '../loopback.js';
import type { World } from '../world.js';
import { ENDPOINT_SLUG, EndpointClient } from './endpoint-client.js';
import { type Answer, type CallOptions, type OpenCall, ProxyClient, read } from './proxy-client.js';
import { type ScriptedUpstream, startUpstream } from './upstream.js';
import { json, type Script } from './upstream-scripts.js';

/**
 * One target of a named endpoint: an openai provider of its own that is asked for `gpt-4.1`, unless it says otherwise.
 */
export interface ChainTarget {
  readonly script?: Script;
  readonly model?: string;
  /** Members of the provider. */
  readonly provider?: Record<string, unknown>;
}

/** What the event of a request tells of one target. */
export interface RecordedAttempt {
  readonly provider_slug: string;
  readonly model: string;
  readonly status: number | null;
  readonly latency_ms: number;
  readonly error: string | null;
}

/** A whole, priced answer of the Responses API: 1000 tokens in, 500 out. */
export const RESPONSE = {
  id: 'resp_scripted',
  object: 'response',
  status: 'completed',
  output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello.' }] }],
  usage: { input_tokens: 1000, output_tokens: 500 },
};

/** What {@link RESPONSE} costs from `gpt-4.1`: 1000 × 2 and 500 × 8 dollars per million. */
export const RESPONSE_USD = 0.006;

let chains = 0;

/** A target that is a script alone stands for the usual provider behind it. */
export function targetOf(target: Script | ChainTarget): ChainTarget {
  return typeof target === 'function' ? { script: target } : target;
}

/** An application with one named endpoint, and a scripted provider for each of its targets. */
export class EndpointChain {
  private constructor(
    private readonly world: World,
    /** Reads the events and lines of the application. */
    readonly client: ProxyClient,
    readonly upstreams: readonly ScriptedUpstream[],
    readonly slugs: readonly string[],
    readonly providerIds: readonly string[],
  ) {}

  /** @param endpoint members of the named endpoint beside its targets. Stop the chain when its test is over. */
  static async create(
    world: World,
    targets: readonly ChainTarget[],
    endpoint: Record<string, unknown> = {},
  ): Promise<EndpointChain> {
    const chain = ++chains;
    const upstreams: ScriptedUpstream[] = [];
    const providers: { id: string; slug: string }[] = [];
    for (const [index, { script, provider }] of targets.entries()) {
      const upstream = await startUpstream({ script: script ?? json(200, RESPONSE) });
      upstreams.push(upstream);
      const own = { slug: `chain-${chain}-${index}`, secret: `sk-of-target-${index}`, baseUrl: `${upstream.url}/` };
      providers.push(await world.provider({ ...own, ...provider }));
    }
    const [primary, ...fallback] = targets.map(({ model = 'gpt-4.1' }, at) => ({
      provider: providers[at]?.slug,
      model,
    }));
    const app = await world.app({
      endpoints: { [ENDPOINT_SLUG]: { api_style: 'responses', ...primary, fallback, ...endpoint } },
    });
    const slugs = providers.map(({ slug }) => slug);
    const ids = providers.map(({ id }) => id);
    const client = new ProxyClient(world, app.id, app.key, slugs[0] ?? '', ids[0] ?? '');
    return new EndpointChain(world, client, upstreams, slugs, ids);
  }

  open(options: CallOptions = {}): OpenCall {
    return new EndpointClient(this.world, this.client).open(options);
  }

  async call(options: CallOptions = {}): Promise<Answer> {
    return read(await this.open(options).head);
  }

  /** How many requests each target has had. */
  get asked(): number[] {
    return this.upstreams.map(({ requests }) => requests.length);
  }

  /** Resolves when this target has a whole request. */
  async isAsked(target: number): Promise<void> {
    await eventually(() => this.upstreams[target]?.requests.at(-1)?.isComplete === true, { withinMs: 10_000 });
  }

  /** Changes the provider of a target; calls that come later follow it. */
  async change(target: number, members: Record<string, unknown>): Promise<void> {
    const answer = await this.world.api.put(`/v1/admin/providers/${this.providerIds[target]}`, members);
    if (answer.status !== 200) throw new Error(`provider: ${answer.status} ${answer.text}`);
  }

  async delete(target: number): Promise<void> {
    const answer = await this.world.api.delete(`/v1/admin/providers/${this.providerIds[target]}`);
    if (answer.status !== 200) throw new Error(`provider: ${answer.status} ${answer.text}`);
  }

  /** The targets told of by the application's only event, once it is there; null when it tells of none. */
  async attempts(): Promise<RecordedAttempt[] | null> {
    await this.client.events();
    const [row] = await this.world.dataSource.query<{ attempts: RecordedAttempt[] | null }[]>(
      'SELECT attempts FROM usage_events WHERE app_id = $1',
      [this.client.appId],
    );
    return row?.attempts ?? null;
  }

  async stop(): Promise<void> {
    await Promise.all(this.upstreams.map((upstream) => upstream.close()));
  }
}

/** A loopback address at which nobody listens. */
export async function refusingUrl(): Promise<string> {
  const { url, close } = await listening(createServer());
  await close();
  return `${url}/`;
}
