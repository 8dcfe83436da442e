import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import type { Revision } from '../mcp/mcp-client.js';
import { CLIENT, CLIENT_NAME } from './oauth-client.js';

type DiscoveryState = Parameters<NonNullable<OAuthClientProvider['saveDiscoveryState']>>[0];
type StoredTokens = Parameters<OAuthClientProvider['saveTokens']>[0];

/** Where the browser comes back to: a listener on a port of its own, as desktop clients have one. */
class Listener {
  private constructor(
    private readonly server: Server,
    readonly redirectUrl: string,
    /** The parameters that the browser brings. */
    readonly callback: Promise<URLSearchParams>,
  ) {}

  static async start(): Promise<Listener> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const redirectUrl = `http://127.0.0.1:${port}/callback`;
    const callback = new Promise<URLSearchParams>((resolve) => {
      server.on('request', ({ url = '' }, response) => {
        response.end('back');
        const target = new URL(url, redirectUrl);
        if (target.pathname === '/callback') resolve(target.searchParams);
      });
    });
    return new Listener(server, redirectUrl, callback);
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** An AI client of somebody else's making that connects by OAuth: what its user would do is left to the test. */
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
    private readonly listener: Listener,
    private readonly scope: string | undefined,
  ) {}

  static async make(baseUrl: string, revision: Revision, scope?: string): Promise<McpOAuthClient> {
    return new McpOAuthClient(baseUrl, revision, await Listener.start(), scope);
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

  /** Forgets what the service refused. */
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
    const mode = this.revision === '2026-07-28' ? ({ pin: this.revision } as const) : ('legacy' as const);
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
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

  stop(): void {
    this.listener.stop();
  }
}
