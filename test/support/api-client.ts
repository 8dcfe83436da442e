import type { OpenApiCheck } from './openapi/openapi-check.js';

/** An answer, read to its end. `body` is the parsed JSON, or `undefined` for anything else. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads members of an answer that the OpenAPI check proves
  readonly body: any;
}

/** Status and code of an answer; without a code when it is not an error. */
export function codeOf({ status, body }: Pick<ApiAnswer, 'status' | 'body'>): [number, string | undefined] {
  return [status, body?.error?.code];
}

export interface ApiRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent unchanged, instead of JSON. */
  readonly raw?: string | Buffer;
}

/** Calls the service over HTTP and checks every answer against its OpenAPI document. */
export class ApiClient {
  constructor(
    private readonly baseUrl: string,
    private readonly check: OpenApiCheck,
    private readonly bearer: string | undefined,
    /** Sent with every call unless the call names its own, such as the cookies of a person. */
    private readonly ownHeaders: Readonly<Record<string, string>> = {},
  ) {}

  get(path: string, request: ApiRequest = {}): Promise<ApiAnswer> {
    return this.send('GET', path, undefined, request);
  }

  post(path: string, body?: unknown, request: ApiRequest = {}): Promise<ApiAnswer> {
    return this.send('POST', path, body, request);
  }

  put(path: string, body?: unknown, request: ApiRequest = {}): Promise<ApiAnswer> {
    return this.send('PUT', path, body, request);
  }

  delete(path: string, request: ApiRequest = {}): Promise<ApiAnswer> {
    return this.send('DELETE', path, undefined, request);
  }

  async send(method: string, path: string, body: unknown, { headers = {}, raw }: ApiRequest): Promise<ApiAnswer> {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const sent = new Headers({
      ...(this.bearer === undefined ? {} : { authorization: `Bearer ${this.bearer}` }),
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...this.ownHeaders,
      ...headers,
    });
    const response = await fetch(this.baseUrl + path, {
      method,
      redirect: 'manual',
      headers: sent,
      body: typeof payload === 'string' || payload === undefined ? payload : new Uint8Array(payload),
    });
    const text = await response.text();
    const isJson = /\bjson/.test(response.headers.get('content-type') ?? '');
    const parsed: unknown = isJson ? JSON.parse(text) : undefined;
    const { status, headers: answered } = response;
    this.check.answer(method, path, { status, body: parsed, headers: [...answered.keys()], sent: [...sent.keys()] });
    return { status, headers: answered, text, body: parsed };
  }
}
