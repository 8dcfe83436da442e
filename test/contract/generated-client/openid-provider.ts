import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newIssuerKey } from '../../support/client-auth/issuers/issuer-keys.js';
import { signToken } from '../../support/client-auth/issuers/issuer-tokens.js';

/** An identity provider where one person is always signed in. */
export interface OpenIdProvider {
  readonly url: string;
  /** The parameters with which the person's browser returns. */
  signInAt(authorizationUrl: string): { readonly state: string; readonly code: string };
  close(): Promise<void>;
}

const LIFETIME_SECONDS = 300;

/** Starts it on the loopback; it knows one client. */
export async function startOpenIdProvider(clientId: string): Promise<OpenIdProvider> {
  const key = await newIssuerKey('RS256', 'openid-1');
  let nonce: string | null = null;
  const server = createServer(async (request, response) => {
    const answer = await answerTo(request.url ?? '');
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answerTo(path: string): Promise<object> {
    if (path.startsWith('/.well-known/')) return metadataOf(url);
    if (path === '/keys') return { keys: [key.jwk] };
    const iat = Math.floor(Date.now() / 1000);
    const person = { sub: 'third-party-1', email: 'alan@example.com', email_verified: true, name: 'Alan' };
    const claims = { ...person, iss: url, aud: clientId, nonce, iat };
    const idToken = await signToken(key, claims, { expiresIn: LIFETIME_SECONDS });
    return { access_token: 'opens-nothing', token_type: 'Bearer', id_token: idToken };
  }

  return {
    url,
    signInAt(authorizationUrl) {
      const { searchParams } = new URL(authorizationUrl);
      nonce = searchParams.get('nonce');
      return { state: searchParams.get('state') ?? '', code: 'code-1' };
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

function metadataOf(url: string): object {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}
