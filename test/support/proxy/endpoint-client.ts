import type { World } from '../world.js';
import {
  type Answer,
  type CallOptions,
  type OpenCall,
  openTarget,
  ProxyClient,
  read,
  requireTold,
} from './proxy-client.js';

interface EndpointOptions {
  /** Members of the named endpoint beside its style, provider and model. */
  readonly endpoint?: Record<string, unknown>;
  /** Further members of the application's configuration. */
  readonly config?: Record<string, unknown>;
  /** Members of the provider; openai when no type is given. */
  readonly provider?: Record<string, unknown>;
}

export const ENDPOINT_SLUG = 'answer';

let providers = 0;

/** A client of one named endpoint, down to the bytes: what it sends is what the test says. */
export class EndpointClient {
  constructor(
    private readonly world: World,
    /** The same application's proxy, and what is recorded of it. */
    readonly proxy: ProxyClient,
    readonly slug = ENDPOINT_SLUG,
  ) {}

  /**
   * A provider of its own and an application with one endpoint, `gpt-4.1` of that provider unless it says otherwise.
   */
  static async create(world: World, { endpoint, config, provider }: EndpointOptions = {}): Promise<EndpointClient> {
    const { id, slug } = await world.provider({ slug: `endpoint-${++providers}`, ...provider });
    const target = { api_style: 'responses', provider: slug, model: 'gpt-4.1' };
    const app = await world.app({ endpoints: { [ENDPOINT_SLUG]: { ...target, ...endpoint } }, ...config });
    return new EndpointClient(world, new ProxyClient(world, app.id, app.key, slug, id));
  }

  /** The same application, addressing another endpoint. @param slug sent as it is written, with all that follows. */
  at(slug: string): EndpointClient {
    return new EndpointClient(this.world, this.proxy, slug);
  }

  open(options: CallOptions = {}): OpenCall {
    const credential = ['authorization', `Bearer ${this.proxy.key}`];
    return openTarget(this.world, this.target, { body: { input: 'Hi' }, credential, ...options });
  }

  async call(options: CallOptions = {}): Promise<Answer> {
    return requireTold(this.world, this.target, options, await read(await this.open(options).head));
  }

  private get target(): string {
    return `/v1/apps/${this.proxy.appId}/endpoints/${this.slug}`;
  }

  /** The text the provider got of a call that was served. */
  async sent(options: CallOptions = {}): Promise<string> {
    const answer = await this.call(options);
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`);
    return this.world.upstream.requests.at(-1)?.body.toString() ?? '';
  }
}
