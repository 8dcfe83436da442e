import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { importPKCS8, SignJWT } from 'jose';
import { Clock } from '../../../common/clock.js';
import { lruCache } from '../../../common/lru-cache.js';
import { Environment } from '../../../platform/config/environment.js';
import { GuardedRequest } from '../../../platform/outbound/guarded-request.js';
import type { ServiceAccount } from './play-credentials.rules.js';
import { askVendor, PlayTrouble } from './play-trouble.js';

const SCOPE = 'https://www.googleapis.com/auth/playintegrity';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTION_LIFETIME_SECONDS = 60 * 60;
/** A token is replaced this long before it expires. */
const RENEW_BEFORE_MS = 60_000;
/** Pause after a failure before the vendor is called again. */
const FAILURE_PAUSE_MS = 2_000;
const MAX_TOKENS = 1_000;

/** A token and its expiry on the monotonic clock. */
interface AccessToken {
  readonly token: string;
  readonly usableUntilMs: number;
}

interface Failure {
  readonly trouble: PlayTrouble;
  readonly untilMs: number;
}

/**
 * Vendor access tokens of service accounts, each cached until a minute before it expires. Callers share one request.
 * After a failure the vendor is not called for two seconds.
 *
 * Source: docs/reference/security.md#play-integrity, RFC 7523.
 */
@Injectable()
export class GoogleAccessTokens {
  readonly #tokens = lruCache<AccessToken>(MAX_TOKENS);
  readonly #failures = lruCache<Failure>(MAX_TOKENS);
  readonly #requests = new Map<string, Promise<string>>();

  constructor(
    private readonly outbound: GuardedRequest,
    private readonly environment: Environment,
    private readonly clock: Clock,
  ) {}

  /**
   * @param sealed the sealed service account; it changes with a rotation.
   * @param open opens it, only when a token is needed.
   * @throws PlayTrouble; any error of `open`.
   */
  async get(sealed: string, open: () => Promise<ServiceAccount>): Promise<string> {
    const name = nameOf(sealed);
    const nowMs = this.clock.monotonicMs();
    const known = this.#tokens.get(name);
    if (known !== undefined && nowMs < known.usableUntilMs) return known.token;
    const failed = this.#failures.get(name);
    if (failed !== undefined && nowMs < failed.untilMs) throw failed.trouble;
    const underWay = this.#requests.get(name);
    if (underWay !== undefined) return underWay;
    const request = this.request(name, open, nowMs).finally(() => this.#requests.delete(name));
    this.#requests.set(name, request);
    return request;
  }

  /** The vendor refused the token: the next caller gets a new one. */
  forget(sealed: string): void {
    this.#tokens.delete(nameOf(sealed));
  }

  private async request(name: string, open: () => Promise<ServiceAccount>, startedMs: number): Promise<string> {
    const assertion = await this.assertionOf(await open());
    try {
      const { token, lifetimeSeconds } = await this.exchange(assertion);
      const usableUntilMs = startedMs + lifetimeSeconds * 1000 - RENEW_BEFORE_MS;
      this.#tokens.set(name, { token, usableUntilMs });
      return token;
    } catch (error) {
      if (error instanceof PlayTrouble) {
        this.#failures.set(name, { trouble: error, untilMs: this.clock.monotonicMs() + FAILURE_PAUSE_MS });
      }
      throw error;
    }
  }

  private async assertionOf({ clientEmail, keyId, privateKey }: ServiceAccount): Promise<string> {
    const issuedAt = Math.floor(this.clock.nowMs() / 1000);
    return new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: keyId })
      .setIssuer(clientEmail)
      .setAudience(this.environment.GOOGLE_OAUTH_TOKEN_URL)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ASSERTION_LIFETIME_SECONDS)
      .sign(await importPKCS8(privateKey, 'RS256'));
  }

  private async exchange(assertion: string): Promise<{ token: string; lifetimeSeconds: number }> {
    const request = {
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: GRANT, assertion }).toString(),
    };
    const { status, body } = await askVendor(
      this.outbound,
      this.environment.GOOGLE_OAUTH_TOKEN_URL,
      request,
      'token: ',
    );
    // 400 and 401: the account, its key or our clock is not accepted.
    if (status === 400 || status === 401 || status === 403) {
      throw new PlayTrouble('play_access_refused', `token: status ${status}`);
    }
    const granted = status === 200 ? grantOf(body) : undefined;
    if (granted === undefined) throw new PlayTrouble('play_unreachable', `token: status ${status}`);
    return granted;
  }
}

function nameOf(sealed: string): string {
  return createHash('sha256').update(sealed).digest('base64');
}

function grantOf(body: Buffer): { token: string; lifetimeSeconds: number } | undefined {
  try {
    const { access_token: token, expires_in: lifetimeSeconds }: Record<string, unknown> = JSON.parse(body.toString());
    if (typeof token !== 'string' || token === '' || typeof lifetimeSeconds !== 'number') return undefined;
    return { token, lifetimeSeconds };
  } catch {
    return undefined;
  }
}
