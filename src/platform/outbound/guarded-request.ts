import { Agent, type Dispatcher, errors } from 'undici';
import { EgressProxyError } from './egress/egress-connector.js';
import { BlockedAddressError, type GuardedConnectorOptions, guardedConnector } from './guarded-connector.js';

export type OutboundFailure = 'blocked' | 'unreachable' | 'timeout' | 'too_large' | 'invalid_url';

/** The only error of `GuardedRequest`. The message holds no address; `cause` keeps the original for the log. */
export class OutboundError extends Error {
  constructor(
    readonly reason: OutboundFailure,
    options: { readonly cause?: unknown } = {},
  ) {
    super(`outbound request failed: ${reason}`, options);
    this.name = 'OutboundError';
  }
}

/** One call without a request body. */
export interface GuardedGet {
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Timeout in milliseconds for the whole exchange: queueing, connecting, headers and body. */
  readonly timeoutMs: number;
  /** Maximum response body size. */
  readonly maxBytes: number;
  /** True when only status and headers matter: the body is not read and the connection is closed. */
  readonly discardBody?: boolean;
}

/** One call with a request body. */
export interface GuardedPost extends GuardedGet {
  readonly body: string;
}

/** A response with any status; redirects are not followed. */
export interface GuardedAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As sent (no decompression); empty with `discardBody`. */
  readonly body: Buffer;
}

const MAX_CONNECTIONS_PER_ORIGIN = 8;

/**
 * Small outbound calls to addresses that a tenant or the operator chooses: provider probes, key sets, client documents,
 * OpenID providers. Addresses are checked at dial time, duration and size are bounded, redirects are not followed.
 * Source: docs/reference/security.md#outbound-addresses.
 */
export class GuardedRequest {
  private readonly agent: Agent;

  constructor(options: GuardedConnectorOptions) {
    this.agent = new Agent({ connect: guardedConnector(options), connections: MAX_CONNECTIONS_PER_ORIGIN });
  }

  /** @throws OutboundError */
  get(url: string, options: GuardedGet): Promise<GuardedAnswer> {
    return this.send('GET', url, options);
  }

  /** @throws OutboundError */
  post(url: string, options: GuardedPost): Promise<GuardedAnswer> {
    return this.send('POST', url, options);
  }

  private async send(
    method: 'GET' | 'POST',
    url: string,
    options: GuardedGet & Partial<GuardedPost>,
  ): Promise<GuardedAnswer> {
    const { origin, path } = parseTarget(url);
    const signal = AbortSignal.timeout(options.timeoutMs);
    try {
      const headers = { 'accept-encoding': 'identity', ...options.headers };
      const answer = await this.agent.request({ origin, path, method, headers, body: options.body, signal });
      const body = options.discardBody ? discard(answer.body) : await readBounded(answer.body, options.maxBytes);
      if (body === undefined) throw new OutboundError('too_large');
      return { status: answer.statusCode, headers: answer.headers, body };
    } catch (error) {
      throw toOutboundError(error, signal);
    }
  }

  /** Aborts every open exchange with `unreachable`. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }
}

/** Accepts plain http here: the connector, which has the port, checks the trust it needs. */
function parseTarget(text: string): { origin: string; path: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === undefined || !isWeb || url.username !== '' || url.password !== '') throw new OutboundError('invalid_url');
  return { origin: url.origin, path: `${url.pathname}${url.search}` };
}

function discard(body: Dispatcher.ResponseData['body']): Buffer {
  // Destroying an unread body emits an abort error, which is expected.
  body.on('error', () => {}).destroy();
  return Buffer.alloc(0);
}

function toOutboundError(error: unknown, signal: AbortSignal): OutboundError {
  if (error instanceof OutboundError) return error;
  return new OutboundError(failureOf(error, signal), { cause: error });
}

function failureOf(error: unknown, signal: AbortSignal): OutboundFailure {
  if (error instanceof BlockedAddressError) return 'blocked';
  if (signal.aborted || error instanceof errors.ConnectTimeoutError) return 'timeout';
  if (error instanceof EgressProxyError) return error.code === 'ERR_EGRESS_PROXY_TIMEOUT' ? 'timeout' : 'unreachable';
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) return 'timeout';
  return error instanceof errors.HeadersOverflowError ? 'too_large' : 'unreachable';
}

/**
 * Reads a body up to a size limit.
 *
 * @returns the bytes, or `undefined` for a larger body; the stream, and with it the connection, is then destroyed.
 */
export async function readBounded(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
