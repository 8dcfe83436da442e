import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { longerPause } from '../eventually.js';
import { openRaw } from '../raw-client.js';
import type { World } from '../world.js';

/** Calls end before this on a machine that does much else, after they have read a large answer to its end. */
const EVENTS_WITHIN_MS = 30_000;

/** An answer as it came off the wire, read until its connection had no more to say. */
export interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** False: the connection ended before the answer was complete. */
  readonly isComplete: boolean;
}

export interface CallOptions {
  /** POST when absent. */
  readonly method?: string;
  /** Names and values in turn, repeated names included; beside the credential. */
  readonly headers?: readonly string[];
  /** Objects go as JSON text. */
  readonly body?: string | Buffer | object;
  /** Without a length. */
  readonly chunked?: boolean;
  /** Names and values in turn; the application's key as bearer when absent. */
  readonly credential?: readonly string[];
}

/** A call under way. */
export interface OpenCall {
  readonly request: ClientRequest;
  /** Resolves with the answer's head; its body is unread. */
  readonly head: Promise<IncomingMessage>;
}

export interface ClientOptions {
  /** Members of the provider to create; openai when no type is given. */
  readonly provider?: Record<string, unknown>;
  /** What the application may do with that provider alone; every provider and everything when absent. */
  readonly policy?: Record<string, unknown>;
  readonly rewrites?: Record<string, string>;
  readonly authentication?: Record<string, unknown>;
  /** None when absent. */
  readonly limits?: Record<string, unknown>;
  /** Further members of the configuration. */
  readonly config?: Record<string, unknown>;
}

const MAX_HEADER_BYTES = 128 * 1024;
const SERVER_TIMING = /^auth;dur=\d+\.\d, limiter;dur=\d+\.\d, provider_ttfb;dur=0\.0$/;

/** Statuses of calls that were refused for what they ask. */
const CONTENT_REFUSALS = new Set(['blocked_policy', 'blocked_invalid']);

let instances = 0;

/** A client of one application, down to the bytes: what it sends is what the test says. */
export class ProxyClient {
  constructor(
    private readonly world: World,
    readonly appId: string,
    readonly key: string,
    /** Of the provider that `call` addresses. */
    readonly slug: string,
    readonly providerId: string,
  ) {}

  /** A provider instance of its own and an application that may call it. */
  static async create(world: World, options: ClientOptions = {}): Promise<ProxyClient> {
    const { policy, rewrites = {}, authentication = { type: 'api_key' }, limits = {}, config } = options;
    const { id, slug } = await world.provider({ slug: `instance-${++instances}`, ...options.provider });
    const providers =
      policy === undefined
        ? { mode: 'all' }
        : { mode: 'selected', selected: { [slug]: { allowed_paths: [], allowed_models: [], ...policy } } };
    const app = await world.app({
      authentication,
      limits,
      routing: { providers, model_rewrites: rewrites },
      ...config,
    });
    return new ProxyClient(world, app.id, app.key, slug, id);
  }

  /** The same application and key, addressing another provider. */
  at(slug: string): ProxyClient {
    return new ProxyClient(this.world, this.appId, this.key, slug, this.providerId);
  }

  /** @param path below the provider; sent as it is written. */
  open(path: string, options: CallOptions = {}): OpenCall {
    const { credential = ['authorization', `Bearer ${this.key}`] } = options;
    return openTarget(this.world, this.target(path), { ...options, credential });
  }

  async call(path: string, options: CallOptions = {}): Promise<Answer> {
    return requireTold(this.world, this.target(path), options, await read(await this.open(path, options).head));
  }

  /**
   * This application's events of calls that passed the checks of their content, the latest first, once there are
   * `count`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads members of an answer that the OpenAPI check proves
  async events(count = 1, query = ''): Promise<any[]> {
    const deadline = performance.now() + EVENTS_WITHIN_MS;
    for (let pauseMs = 10; ; pauseMs = longerPause(pauseMs)) {
      const { body } = await this.world.api.get(`/v1/admin/apps/${this.appId}/events?limit=100${query}`);
      const events = body.events.filter(({ status }: { status: string }) => !CONTENT_REFUSALS.has(status));
      if (events.length === count) return events;
      if (performance.now() > deadline || events.length > count)
        throw new Error(`${events.length} events instead of ${count}: ${JSON.stringify(events)}`);
      await sleep(pauseMs);
    }
  }

  private target(path: string): string {
    return `/v1/apps/${this.appId}/proxy/${this.slug}/${path}`;
  }

  /** The lines of this name that concern this application. */
  lines(message: string): Record<string, unknown>[] {
    return this.world.logs.filter((line) => line.message === message && [line.app, line.appId].includes(this.appId));
  }
}

/** Starts a call to any request target of the service. */
export function openTarget(world: World, target: string, options: CallOptions): OpenCall {
  const { method = 'POST', headers = [], credential = [], chunked = false } = options;
  const { hostname, port, host } = new URL(world.baseUrl);
  const payload = bytesOf(options.body);
  const framing = chunked ? ['transfer-encoding', 'chunked'] : ['content-length', String(payload?.length)];
  const call = request({
    hostname,
    port,
    method,
    path: target,
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    headers: ['host', host, 'connection', 'close', ...(payload ? framing : []), ...credential, ...headers],
  });
  const head = new Promise<IncomingMessage>((resolve, reject) => {
    call.on('response', resolve);
    call.on('error', reject);
  });
  // A call whose head nobody waits for may fail unseen: its test looks at something else.
  head.catch(() => {});
  call.end(payload);
  return { request: call, head };
}

function bytesOf(body: CallOptions['body']): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Reads an answer to its end, whatever the end is like. */
export async function read(message: IncomingMessage): Promise<Answer> {
  const parts: Buffer[] = [];
  message.on('data', (part: Buffer) => parts.push(part));
  message.on('error', () => {});
  await new Promise((resolve) => message.once('close', resolve));
  return {
    status: message.statusCode ?? 0,
    statusText: message.statusMessage ?? '',
    headers: message.headers,
    rawHeaders: message.rawHeaders,
    body: Buffer.concat(parts),
    isComplete: message.complete,
  };
}

/** Status and code of a refusal of ours, after its form has been proven: closed envelope, content type, timing. */
export function refusalOf(answer: Answer): [status: number, code: string] {
  expect(answer.headers['content-type']).toBe('application/json; charset=UTF-8');
  expect(answer.headers['server-timing']).toMatch(SERVER_TIMING);
  const { error, ...others } = JSON.parse(answer.body.toString());
  const { code, message, ...more } = error;
  expect([others, more, typeof message]).toEqual([{}, {}, 'string']);
  return [answer.status, code];
}

/** The answer, once it has the headers that the service's own description promises of whatever is relayed. */
export function requireTold(
  { check }: World,
  target: string,
  { method = 'POST' }: CallOptions,
  answer: Answer,
): Answer {
  check.relayed(method, target, { status: answer.status, headers: Object.keys(answer.headers) });
  return answer;
}

/** Holds a refusal against the service's own description. @param path of the calls; the proxy's when absent. */
export function documentedRefusals(world: World, path = '/v1/apps/a/proxy/b/c'): (answer: Answer) => void {
  return ({ status, body, headers }) =>
    world.check.answer('POST', path, { status, body: JSON.parse(body.toString()), headers: Object.keys(headers) });
}

/** Sends bytes as they are, then nothing more; gives everything that came back until the connection closed. */
export async function exchangeBytes(world: World, bytes: string | Buffer): Promise<string> {
  const { socket, answer } = openRaw(world.baseUrl, bytes);
  socket.once('connect', () => socket.end());
  return (await answer).text;
}
