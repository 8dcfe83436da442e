import { Injectable } from '@nestjs/common';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  type IDToken,
} from 'openid-client';
import { ConsoleOrigin } from '../../accounts/csrf/csrf-origins.js';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Environment } from '../../platform/config/environment.js';
import { GuardedRequest } from '../../platform/outbound/guarded-request.js';
import type { SignInChecks } from './third-party-sign-in.rules.js';

/** The path of the redirect URI. */
export const CALLBACK_PATH = '/v1/auth/callback/google';

const SCOPE = 'openid email profile';
/** Provider metadata is read again after this time. */
const METADATA_LIFE_MS = 60 * 60 * 1000;
/** Covers a whole call to the provider. */
const TIMEOUT_MS = 5_000;
/** Metadata, key sets and token responses are a few kilobytes. */
const MAX_BYTES = 256 * 1024;
/** Statuses for which `Response` allows no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** The gateway's client registration at the provider. */
interface Client {
  readonly id: string;
  readonly secret: string;
}

/**
 * The OpenID provider for sign-in: authorization code, PKCE S256, state and nonce. The signature, issuer, audience and
 * nonce of the identity token are checked (OpenID Connect Core 3.1.3.7; RFC 9700 2.1).
 */
@Injectable()
export class Google {
  readonly #client: Client | undefined;
  #metadata: { readonly configuration: Configuration; readonly readAtMs: number } | undefined;

  constructor(
    private readonly environment: Environment,
    private readonly outbound: GuardedRequest,
    private readonly origin: ConsoleOrigin,
    private readonly clock: Clock,
  ) {
    const { GOOGLE_CLIENT_ID: id, GOOGLE_CLIENT_SECRET: secret } = environment;
    this.#client = id === undefined || secret === undefined ? undefined : { id, secret: secret.reveal() };
  }

  /** Whether the operator configured it. */
  get isEnabled(): boolean {
    return this.#client !== undefined;
  }

  /** @throws not_found it is not configured. */
  requireEnabled(): Client {
    if (this.#client === undefined) throw new GatewayError('not_found', { reason: 'third_party_not_configured' });
    return this.#client;
  }

  /**
   * The authorization URL for the browser.
   *
   * @throws not_found it is not configured; any error of the library or the network.
   */
  async authorizationUrl({ state, nonce, codeVerifier }: SignInChecks): Promise<string> {
    const url = buildAuthorizationUrl(await this.configuration(), {
      redirect_uri: `${this.origin.url}${CALLBACK_PATH}`,
      scope: SCOPE,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    });
    return url.href;
  }

  /**
   * The claims of the identity token, from the query of the callback.
   *
   * @param query with its `?`, as received.
   * @throws not_found it is not configured; any error of the library for an invalid response, or of the network.
   */
  async redeem(query: string, { state, nonce, codeVerifier }: SignInChecks): Promise<IDToken> {
    const answer = new URL(`${this.origin.url}${CALLBACK_PATH}${query}`);
    const tokens = await authorizationCodeGrant(await this.configuration(), answer, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('The library gave no claims of an identity token that it expected.');
    return claims;
  }

  private async configuration(): Promise<Configuration> {
    const client = this.requireEnabled();
    const nowMs = this.clock.monotonicMs();
    const known = this.#metadata;
    if (known !== undefined && nowMs - known.readAtMs < METADATA_LIFE_MS) return known.configuration;
    const issuer = new URL(this.environment.GOOGLE_ISSUER_URL);
    const configuration = await discovery(issuer, client.id, client.secret, undefined, {
      // The outbound guard decides whether plain http is allowed, by the dialled host.
      execute: [enableNonRepudiationChecks, ...(issuer.protocol === 'http:' ? [allowInsecureRequests] : [])],
      [customFetch]: guardedFetch(this.outbound),
    });
    this.#metadata = { configuration, readAtMs: nowMs };
    return configuration;
  }
}

/** A `fetch` through the outbound guard: address check, timeout, size limit, no redirects. */
function guardedFetch(outbound: GuardedRequest): CustomFetch {
  return async (url, { method, headers, body }) => {
    const bounds = { headers: inLowerCase(headers), timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
    const answer =
      method === 'POST'
        ? await outbound.post(url, { ...bounds, body: String(body ?? '') })
        : await outbound.get(url, bounds);
    const answered = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined) answered.set(name, typeof value === 'string' ? value : value.join(', '));
    }
    const content = BODILESS.has(answer.status) ? null : new Uint8Array(answer.body);
    return new Response(content, { status: answer.status, headers: answered });
  };
}

function inLowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
