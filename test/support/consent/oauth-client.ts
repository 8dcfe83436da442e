import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pageOf } from '../accounts/people.js';
import type { ApiAnswer, ApiClient } from '../api-client.js';
import { freePort } from '../platform/gateway-process.js';
import { startWorld, type World } from '../world.js';

/** A client of the operator's own list, and where it listens. */
export const CLIENT = 'desktop-client';
export const CLIENT_NAME = 'A desktop client';
export const REDIRECT_URI = 'http://127.0.0.1:49152/callback';

/** What the operator registers: a loopback listener without a port, a page, and a private scheme. */
const REGISTERED = [
  {
    client_id: CLIENT,
    client_name: CLIENT_NAME,
    redirect_uris: [
      'http://127.0.0.1/callback',
      'http://localhost/callback',
      'http://[::1]/callback',
      'https://client.example.com/back?from=gateway',
      'com.example.client:/callback',
    ],
  },
  { client_id: 'another-client', client_name: 'Another', redirect_uris: ['https://another.example.com/callback'] },
];

/** A file of registered clients. */
export function clientsFile(clients: unknown = REGISTERED): string {
  const file = join(mkdtempSync(join(tmpdir(), 'oauth-clients-')), 'clients.json');
  writeFileSync(file, typeof clients === 'string' ? clients : JSON.stringify(clients));
  return file;
}

/** A service with an authorization server: its issuer is the address under which it is reached. */
export async function startConsentWorld({ env, ...options }: Parameters<typeof startWorld>[0] = {}): Promise<World> {
  const port = String(await freePort());
  const own = { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}`, OAUTH_CLIENTS_FILE: clientsFile() };
  return startWorld({ ...options, env: { ...own, TRUSTED_PROXIES: '127.0.0.1/32', ...env } });
}

/** An authorization as its browser holds it. */
export interface OpenedAuthorization {
  readonly id: string;
  readonly proof: string;
}

/** Tokens of a connection. */
export interface Tokens {
  readonly access: string;
  readonly refresh: string;
}

/** A client that asks to be let in, in the bare protocol: every parameter can be replaced or left out. */
export class OAuthTestClient {
  readonly verifier = randomBytes(32).toString('base64url');
  readonly challenge = createHash('sha256').update(this.verifier).digest('base64url');

  constructor(
    readonly world: World,
    private readonly address?: string,
  ) {}

  /** The parameters of a request for everything; null leaves one out. */
  query(members: Readonly<Record<string, string | null>> = {}): URLSearchParams {
    const parameters = new URLSearchParams();
    const all = {
      ...{ response_type: 'code', client_id: CLIENT, redirect_uri: REDIRECT_URI },
      ...{ code_challenge: this.challenge, code_challenge_method: 'S256', state: 'the state' },
      ...{ resource: this.world.consoleOrigin },
      ...members,
    };
    for (const [name, value] of Object.entries(all)) if (value !== null) parameters.append(name, value);
    return parameters;
  }

  authorize(query: URLSearchParams | string): Promise<Response> {
    const headers: Record<string, string> = this.address === undefined ? {} : { 'x-forwarded-for': this.address };
    return fetch(`${this.world.baseUrl}/oauth/authorize?${query}`, { redirect: 'manual', headers });
  }

  /** Opens an authorization. */
  async open(members: Readonly<Record<string, string | null>> = {}): Promise<OpenedAuthorization> {
    return openedIn(await this.authorize(this.query(members)));
  }

  token(form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return this.post('/oauth/token', form, headers);
  }

  exchange(code: string, members: Readonly<Record<string, string>> = {}): Promise<Response> {
    return this.token({
      ...{ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, client_id: CLIENT },
      ...{ code_verifier: this.verifier },
      ...members,
    });
  }

  refresh(refresh: string, members: Readonly<Record<string, string>> = {}): Promise<Response> {
    return this.token({ grant_type: 'refresh_token', refresh_token: refresh, client_id: CLIENT, ...members });
  }

  revoke(token: string, clientId = CLIENT): Promise<Response> {
    return this.post('/oauth/revoke', { token, client_id: clientId });
  }

  private post(
    path: string,
    form: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(`${this.world.baseUrl}${path}`, { method: 'POST', body: new URLSearchParams(form), headers });
  }
}

/** The browser's side of consent; `cookie` is that of a signed-in person. */
export class ConsentBrowser {
  private readonly page: ApiClient;

  constructor(world: World, cookie?: string) {
    this.page = pageOf(world, cookie);
  }

  post(path: string, body: object, headers: Record<string, string> = {}): Promise<ApiAnswer> {
    return this.page.post(`/v1/console/oauth/${path}`, body, { headers });
  }

  details({ id, proof }: OpenedAuthorization): Promise<ApiAnswer> {
    return this.post(`${id}/details`, { submissionToken: proof });
  }

  allow({ id, proof }: OpenedAuthorization, organizationId: string, grant = 'manage'): Promise<ApiAnswer> {
    return this.post(`${id}/allow`, { submissionToken: proof, organizationId, grant });
  }

  guest({ id, proof }: OpenedAuthorization): Promise<ApiAnswer> {
    return this.post(`${id}/guest`, { submissionToken: proof });
  }

  deny({ id, proof }: OpenedAuthorization): Promise<ApiAnswer> {
    return this.post(`${id}/deny`, { submissionToken: proof });
  }
}

/** The authorization that a redirect to the consent page opens. */
export function openedIn(answer: Response): OpenedAuthorization {
  const [, id, proof] =
    /^\/oauth\/consent\?id=(oauth-[0-9a-f]{64})#([\w-]{43})$/.exec(answer.headers.get('location') ?? '') ?? [];
  if (id === undefined || proof === undefined) throw new Error(`no authorization was opened: ${answer.status}`);
  return { id, proof };
}

/** The code in the redirect of an allowed authorization. */
export function codeIn({ body }: ApiAnswer): string {
  return new URL(body.redirect).searchParams.get('code') ?? '';
}

/** The tokens of an answer. */
export async function tokensIn(answer: Response): Promise<Tokens> {
  const body = (await answer.json()) as { access_token: string; refresh_token: string };
  return { access: body.access_token, refresh: body.refresh_token };
}

/** Lets a client in, and exchanges its code. */
export async function connected(
  client: OAuthTestClient,
  browser: ConsentBrowser,
  organizationId: string,
  { grant = 'manage', ...members }: Readonly<Record<string, string>> = {},
): Promise<Tokens> {
  const allowed = await browser.allow(await client.open(members), organizationId, grant);
  return tokensIn(await client.exchange(codeIn(allowed)));
}
