import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { loopbackCertificate } from './issuer-certificate.js';
import { type IssuerKey, type IssuerKeys, type KeySetDocument, newIssuerKeys } from './issuer-keys.js';
import { type Claims, forgeries, signToken, type TokenOptions } from './issuer-tokens.js';

export interface IssuerOptions {
  /** Serves the key set over https with its own certificate; http by default. */
  readonly tls?: boolean;
  /** Dates the tokens; the machine's clock by default. */
  readonly clock?: { nowMs(): number };
}

/** An identity provider on the loopback: a key set over real HTTP, and real tokens signed with its keys. */
export type IssuerSimulator = Awaited<ReturnType<typeof startIssuer>>;

/** The current response for the key set. */
interface Behaviour {
  delayMs: number;
  status: number;
  body: string | undefined;
  location: string | undefined;
}

const HEALTHY: Behaviour = { delayMs: 0, status: 200, body: undefined, location: undefined };
const KEY_SET_PATH = '/.well-known/jwks.json';
const LIFETIME_SECONDS = 3_600;

/** Starts an issuer on a free port of the loopback. Stop it in `afterAll`. */
export async function startIssuer({ tls = false, clock = { nowMs: Date.now } }: IssuerOptions = {}) {
  let keys = await newIssuerKeys();
  let published: KeySetDocument = { keys: keys.published };
  const keySet = scriptedKeySet(() => published);
  const server = await listeningServer(tls, keySet.answer);
  const jwksUrl = `${server.url}${KEY_SET_PATH}`;
  const claimsOf = (claims: Claims = {}): Claims => {
    const now = Math.floor(clock.nowMs() / 1_000);
    return { sub: 'user-1', iss: server.url, aud: 'mobile', iat: now, exp: now + LIFETIME_SECONDS, ...claims };
  };
  const keyOf = (alg: string): IssuerKey => requireKey(keys, alg);
  return {
    /** `http://127.0.0.1:<port>`, no slash at the end: the `iss` of its tokens. */
    url: server.url,
    jwksUrl,
    /** PEM of the certificate that callers must trust; undefined without `tls`. */
    certificate: server.certificate,
    /** The `Accept` header of every request for the key set so far. */
    accepts: keySet.accepts,
    /** How many requests for the key set have arrived. */
    fetches: () => keySet.accepts.length,
    /** The `end_user.issuer` of an application that trusts this issuer. */
    issuerConfig: (overrides: Record<string, unknown> = {}): Record<string, unknown> => ({
      ...{ jwks_url: jwksUrl, issuer: server.url, audience: 'mobile', user_id_claim: 'sub', required_claims: [] },
      ...{ max_token_lifetime_seconds: 86_400, ...overrides },
    }),
    /** The `kid` of the key that signs with this algorithm now. */
    kid: (alg: string) => keyOf(alg).jwk.kid,
    /** The public key, as published, that verifies this algorithm now. */
    jwk: (alg: string) => keyOf(alg).jwk,
    /**
     * A token signed with the current key: user `user-1`, this issuer and the audience `mobile`, valid for an hour from
     * now. A claim given as undefined is left out.
     */
    token: (claims?: Claims, options: TokenOptions = {}) =>
      signToken(keyOf(options.alg ?? 'ES256'), claimsOf(claims), options),
    /** New keys under new names sign from now on; those of before are published no more, unless `keepOld` says so. */
    async rotate({ keepOld = false } = {}) {
      const old = keepOld ? published.keys : [];
      keys = await newIssuerKeys();
      published = { keys: [...keys.published, ...old] };
    },
    ...keySet.script,
    die: server.close,
    /** Listens on the same port again. */
    revive: server.listen,
    stop: server.close,
    /** Tokens that must never be accepted. */
    forged: forgeries(keyOf, claimsOf),
  };
}

/** Answers requests for the key set as last configured. */
function scriptedKeySet(published: () => KeySetDocument) {
  const behaviour = { ...HEALTHY };
  const accepts: (string | undefined)[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    accepts.push(request.headers.accept);
    const { delayMs, status, body, location } = behaviour;
    if (delayMs > 0) await pause(delayMs, undefined, { ref: false });
    const headers = { 'content-type': 'application/json', ...(location === undefined ? {} : { location }) };
    response.writeHead(status, headers).end(body ?? JSON.stringify(published()));
  };
  const change = (changes: Partial<Behaviour>): void => void Object.assign(behaviour, changes);
  const script = {
    /** Publishes exactly this from now on; the keys keep signing. */
    publish: (document: unknown) => change({ body: JSON.stringify(document) }),
    /** Waits before every answer; 0 ends it. */
    slow: (delayMs: number) => change({ delayMs }),
    garbage: (body = '<html>not a key set</html>') => change({ body }),
    status: (status: number) => change({ status }),
    redirect: (location: string) => change({ status: 302, location }),
    /** Ends `slow`, `garbage`, `status`, `redirect` and `publish`. */
    heal: () => change(HEALTHY),
  };
  return { accepts, answer, script };
}

function requireKey(keys: IssuerKeys, alg: string): IssuerKey {
  const key = keys.signing.get(alg);
  if (key === undefined) throw new Error(`the issuer has no key for ${alg}`);
  return key;
}

/** A server that can stop and listen on the same port again. */
async function listeningServer(
  tls: boolean,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
) {
  const identity = tls ? await loopbackCertificate() : undefined;
  const listener: RequestListener = (request, response) => void answer(request, response);
  const server =
    identity === undefined
      ? createServer(listener)
      : createTlsServer({ cert: identity.certificate, key: identity.privateKey }, listener);
  let port = 0;
  const listen = async (): Promise<void> => {
    if (server.listening) return;
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  };
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  await listen();
  const scheme = identity === undefined ? 'http' : 'https';
  return { url: `${scheme}://127.0.0.1:${port}`, certificate: identity?.certificate, listen, close };
}
