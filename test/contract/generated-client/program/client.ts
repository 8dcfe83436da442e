import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './served.js';

/** A client of the whole API, with the types that the document gives. */
export type ApiClient = Client<paths>;

/** One call that succeeded: `POST /v1/admin/apps` and the security scheme it was made with, `none` without one. */
export interface Call {
  readonly operation: string;
  readonly credential: string;
}

/** Headers of operations that accept only a session. */
export const AT_CONSOLE = { 'x-console-request': '1' } as const;

/** Creates clients, and records the calls of all of them. */
export class Clients {
  readonly calls: Call[] = [];
  /** Every client without a credential has its own address, because sign-ins are limited by address. */
  private addresses = 0;

  /** @param baseUrl where the service is; its console, too. */
  constructor(readonly baseUrl: string) {}

  /** A client without a credential, or with invalid cookies. */
  anonymous(cookie?: string): ApiClient {
    const headers = { 'x-forwarded-for': `198.51.100.${++this.addresses}` };
    return this.client('none', cookie === undefined ? headers : { ...headers, cookie });
  }

  /** The holder of a bearer. */
  bearer(credential: 'ManagementBearer' | 'MetricsBearer' | 'OperationToken', token: string): ApiClient {
    return this.client(credential, { authorization: `Bearer ${token}` });
  }

  /** A person at the console; `cookies` as the service has set them. */
  session(cookies: readonly string[]): ApiClient {
    return this.client('ConsoleSession', { cookie: cookies.join('; '), ...AT_CONSOLE });
  }

  private client(credential: string, headers: Readonly<Record<string, string>>): ApiClient {
    const client = createClient<paths>({ baseUrl: this.baseUrl, headers, redirect: 'manual' });
    client.use({
      onResponse: ({ request, schemaPath, response }) => {
        if (response.status < 400) this.calls.push({ operation: `${request.method} ${schemaPath}`, credential });
      },
    });
    return client;
  }
}

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** The body of an answer. @throws Error for a refusal. */
export async function bodyOf<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (data === undefined) throw new Error(`${response.url} answered ${response.status}: ${JSON.stringify(error)}`);
  return data;
}

/** The cookies that an answer sets, in the form to send back. @throws Error for a refusal. */
export async function cookiesOf(call: Promise<Answer<unknown>>): Promise<string[]> {
  const { error, response } = await call;
  if (response.status >= 400) throw new Error(`${response.url} answered ${response.status}: ${JSON.stringify(error)}`);
  return response.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '');
}
