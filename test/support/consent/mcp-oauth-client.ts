import { createServer } from 'node:http';
import {
  type Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { listening } from '../loopback.js';
import { newMcpClient, type Revision } from '../mcp/mcp-client.js';
import { CLIENT, CLIENT_NAME } from './oauth-client.js';

type DiscoveryState = Parameters<NonNullable<OAuthClientProvider['saveDiscoveryState']>>[0];
type StoredTokens = Parameters<OAuthClientProvider['saveTokens']>[0];

/** Where the browser comes back to: a listener on its own port, as desktop clients have one. */
async function startListener() {
  const brought = Promise.withResolvers<URLSearchParams>();
  const server = createServer(({ url = '' }, response) => {
    response.end('back');
    const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
    if (pathname === '/callback') brought.resolve(searchParams);
  });
  const { url, close } = await listening(server);
  return { redirectUrl: `${url}/callback`, callback: brought.promise, close };
}

/** A third-party AI client that connects by OAuth: the test acts as its user. */
export class McpOAuthClient implements OAuthClientProvider {
  /** Where the client sends its user's browser. */
  authorizationUrl: URL | undefined;
  stored: StoredTokens | undefined;
  private verifier = '';
  private discovered: DiscoveryState | undefined;
  private transport: StreamableHTTPClientTransport | undefined;

  private constructor(
    private readonly baseUrl: string,
    private readonly revision: Revision,
    private readonly listener: Awaited<ReturnType<typeof startListener>>,
    private readonly scope: string | undefined,
  ) {}

  static async make(baseUrl: string, revision: Revision, scope?: string): Promise<McpOAuthClient> {
    return new McpOAuthClient(baseUrl, revision, await startListener(), scope);
  }

  get redirectUrl(): string {
    return this.listener.redirectUrl;
  }

  get clientMetadata() {
    return {
      client_name: CLIENT_NAME,
      redirect_uris: [this.redirectUrl],
      token_endpoint_auth_method: 'none',
      ...(this.scope === undefined ? {} : { scope: this.scope }),
    };
  }

  clientInformation() {
    return { client_id: CLIENT };
  }

  state(): string {
    return 'state-of-the-client';
  }

  tokens(): StoredTokens | undefined {
    return this.stored;
  }

  saveTokens(tokens: StoredTokens): void {
    this.stored = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }

  /** Drops refused credentials. */
  invalidateCredentials(): void {
    this.stored = undefined;
  }

  saveDiscoveryState(state: DiscoveryState): void {
    this.discovered = state;
  }

  discoveryState(): DiscoveryState | undefined {
    return this.discovered;
  }

  /** Connects; `undefined` when its user has to let it in first. */
  async connect(): Promise<Client | undefined> {
    const client = newMcpClient(this.revision);
    this.transport = new StreamableHTTPClientTransport(new URL(`${this.baseUrl}/mcp`), { authProvider: this });
    try {
      await client.connect(this.transport);
      return client;
    } catch (error) {
      if (error instanceof UnauthorizedError) return undefined;
      throw error;
    }
  }

  /** Waits for the browser, and takes what it brings. */
  async finish(): Promise<URLSearchParams> {
    const callback = await this.listener.callback;
    await this.transport?.finishAuth(callback);
    return callback;
  }

  stop(): Promise<void> {
    return this.listener.close();
  }
}
