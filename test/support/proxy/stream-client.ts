import type { IncomingMessage } from 'node:http';
import type { World } from '../world.js';
import { type Answer, type ClientOptions, openTarget, ProxyClient, read } from './proxy-client.js';

interface StreamClientOptions extends ClientOptions {
  /** Of the application; 60 seconds when absent. */
  readonly streams?: Record<string, unknown>;
}

/** A client of an application that keeps answers, and what it asks of them. */
export class StreamClient {
  private constructor(
    readonly world: World,
    readonly calls: ProxyClient,
  ) {}

  static async create(
    world: World,
    { streams = { resume_seconds: 60 }, ...options }: StreamClientOptions = {},
  ): Promise<StreamClient> {
    const config = { streams, ...options.config };
    return new StreamClient(world, await ProxyClient.create(world, { ...options, config }));
  }

  /** The same application and key on another instance. */
  on({ baseUrl }: Pick<World, 'baseUrl'>): StreamClient {
    const world = { ...this.world, baseUrl };
    const { appId, key, slug, providerId } = this.calls;
    return new StreamClient(world, new ProxyClient(world, appId, key, slug, providerId));
  }

  /** Reads a stream to its end. */
  async read(stream: string, offset?: number | string, key = this.calls.key): Promise<Answer> {
    return read(await this.open(stream, offset, key));
  }

  open(stream: string, offset?: number | string, key = this.calls.key): Promise<IncomingMessage> {
    const query = offset === undefined ? '' : `?offset=${offset}`;
    return this.ask('GET', `${stream}${query}`, key);
  }

  async stop(stream: string, key = this.calls.key): Promise<Answer> {
    return read(await this.ask('DELETE', stream, key));
  }

  private ask(method: string, path: string, key: string): Promise<IncomingMessage> {
    const target = `/v1/apps/${this.calls.appId}/streams/${path}`;
    return openTarget(this.world, target, { method, credential: ['authorization', `Bearer ${key}`] }).head;
  }
}

/** The id of the stream that an answer names. */
export function streamOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const id = headers['x-gateway-stream'];
  if (typeof id !== 'string') throw new Error(`the answer names no stream: ${JSON.stringify(headers)}`);
  return id;
}

/** State, length and bytes of what was read. */
export function told({ headers, body, isComplete }: Answer) {
  const state = headers['x-gateway-stream-state'];
  const length = headers['x-gateway-stream-length'];
  return { state, length: length === undefined ? undefined : Number(length), text: body.toString(), isComplete };
}
