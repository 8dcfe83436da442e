import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
} from 'jose';
import Provider, { type ProviderContext } from 'oidc-provider';
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';
import { listening } from '../loopback.js';

/** The client that every provider of the tests knows. */
export const OPENID_CLIENT = { id: 'console-client', secret: 'the-secret-of-the-console-client' };

const SIGN_IN_PATH = '/sign-in';
const LIFETIMES_SECONDS = {
  ...{ AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
};

/** The identity of a person at the provider. */
export interface OpenIdPerson {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

let people = 0;

/** Somebody whom no provider has named yet. */
export function newOpenIdPerson(claims: object = {}): OpenIdPerson {
  const sub = `subject-${++people}-${process.pid}`;
  return {
    sub,
    email: `${sub}@Example.com`,
    email_verified: true,
    name: 'Grace Hopper',
    picture: 'https://images.example/grace.png',
    ...claims,
  };
}

interface SigningKey {
  readonly kid: string;
  readonly key: CryptoKey;
  readonly jwk: object;
}

/** A real OpenID provider on the loopback; whoever comes is signed in at once as the person a test says. */
export class OpenIdProvider {
  /** Who sits in front of the browser; `undefined`: somebody who declines. */
  person: OpenIdPerson | undefined;
  /** Changes what an identity token says, before it is signed. */
  forge: ((claims: JWTPayload) => JWTPayload) | undefined;
  /** Signs forged tokens in place of the provider's own key. */
  forgingKey: SigningKey | undefined;
  /** Answers calls of a path itself, in place of the provider. */
  readonly answers = new Map<string, (context: ProviderContext) => void>();
  /** Paths that were called, in order. */
  readonly called: string[] = [];
  private own: SigningKey;
  private handle: (request: IncomingMessage, response: ServerResponse) => void;

  private constructor(
    readonly issuer: string,
    private readonly redirectUri: string,
    readonly stop: () => Promise<void>,
  ) {}

  /** @param redirectUri where it sends browsers back to. */
  static async start(redirectUri: string): Promise<OpenIdProvider> {
    const server = createServer();
    const { url, close } = await listening(server);
    const provider = new OpenIdProvider(url, redirectUri, close);
    await provider.rotateKey();
    server.on('request', (request, response) => provider.handle(request, response));
    return provider;
  }

  /** Signs with another key from now on, and publishes that one alone. Sign-ins that are under way there are over. */
  async rotateKey(): Promise<SigningKey> {
    this.own = await newSigningKey();
    this.handle = this.serving();
    return this.own;
  }

  /** Walks a browser from the address it is sent to until it is sent back; where to is the answer. */
  async visit(address: string): Promise<URL> {
    const cookies = new Map<string, string>();
    let url = new URL(address);
    for (let hop = 0; url.origin === this.issuer && hop < 10; hop++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
      for (const set of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        cookies.set(name, value);
      }
      const location = answer.headers.get('location');
      if (location === null) throw new Error(`the provider stays at ${url}: ${answer.status} ${await answer.text()}`);
      url = new URL(location, url);
    }
    return url;
  }

  private serving(): typeof this.handle {
    const client = {
      ...{ client_id: OPENID_CLIENT.id, client_secret: OPENID_CLIENT.secret, redirect_uris: [this.redirectUri] },
      token_endpoint_auth_method: 'client_secret_post',
    };
    const provider = new Provider(this.issuer, {
      adapter: createMemoryAdapter(0),
      clients: [client],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'picture'] },
      conformIdTokenClaims: false,
      cookies: { keys: ['a key of the tests'] },
      features: { devInteractions: { enabled: false } },
      findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => this.person }),
      interactions: { url: () => SIGN_IN_PATH },
      jwks: { keys: [this.own.jwk] },
      loadExistingGrant: ({ oidc }: ProviderContext) => granted(provider, oidc.client.clientId, oidc.session.accountId),
      pkce: { required: () => true },
      ttl: LIFETIMES_SECONDS,
    });
    provider.use((context, next) => this.answer(context, next));
    const serve = provider.callback();
    return (request, response) => {
      if (!request.url?.startsWith(SIGN_IN_PATH)) return serve(request, response);
      const declined = { error: 'access_denied', error_description: 'Not today.' };
      const result = this.person === undefined ? declined : { login: { accountId: this.person.sub } };
      return void provider.interactionFinished(request, response, result);
    };
  }

  private async answer(context: ProviderContext, next: () => Promise<void>): Promise<void> {
    this.called.push(context.path);
    const own = this.answers.get(context.path);
    if (own !== undefined) return own(context);
    await next();
    const { body } = context;
    if (this.forge === undefined || typeof body !== 'object' || body === null || !('id_token' in body)) return;
    const { kid, key } = this.forgingKey ?? this.own;
    const claims = this.forge(decodeJwt(String(body.id_token)));
    context.body = { ...body, id_token: await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(key) };
  }
}

/** A key that a provider may sign with. */
export async function newSigningKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { kid, key: privateKey, jwk: { ...jwk, kid, use: 'sig', alg: 'RS256' } };
}

async function granted(provider: Provider, clientId: string, accountId: string): Promise<object> {
  const grant = new provider.Grant({ clientId, accountId });
  grant.addOIDCScope('openid email profile');
  await grant.save();
  return grant;
}
