import { createHash } from 'node:crypto';
import { type DeviceKeystore, KeyLost } from '../devices/device-keystore.js';
import { errorOf, MobileError } from './mobile-error.js';

/** The SDK settings of an application. With an API key it needs no keystore. */
export interface MobileSetup {
  /** The URL of the service; its path is kept. */
  readonly baseUrl: string;
  readonly appId: string;
  readonly keystore?: DeviceKeystore;
  readonly apiKey?: string;
  /** Of the signed-in user, where users sign in. */
  readonly issuerToken?: (options: { readonly forceRefresh: boolean }) => Promise<string>;
  /** Runs before the single retry after a missing claim. */
  readonly recoverClaims?: () => Promise<void> | void;
  /** The user of the application, if it has only an API key. */
  readonly userId?: string;
  readonly userHeader?: string;
  /** Short version of the bundle. */
  readonly appVersion?: string;
  readonly clock: { nowMs(): number };
}

interface CachedToken {
  readonly value: string;
  readonly refreshAtMs: number;
  readonly expiresAtMs: number;
}

type Json = Readonly<Record<string, unknown>>;

/** Seconds after which a token of this lifetime is replaced. */
export function refreshAfterSeconds(lifetimeSeconds: number): number {
  return lifetimeSeconds - Math.min(300, Math.max(15, 0.2 * lifetimeSeconds));
}

/**
 * An application on a phone with the mobile SDK inside: our own client that calls, caches and retries like the SDK.
 */
export class MobileClient {
  private cached: CachedToken | undefined;
  private exchanging: Promise<CachedToken> | undefined;
  private held: { readonly error: MobileError; readonly untilMs: number } | undefined;

  constructor(private readonly setup: MobileSetup) {}

  /** Calls a provider; the answer is unread. @param path below the provider. @throws MobileError */
  async call(slug: string, path: string, body: object): Promise<Response> {
    const response = await fetch(this.url(`proxy/${slug}/${path}`), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${await this.credential()}`,
        'x-app-version': this.setup.appVersion ?? '0',
        ...this.userHeader(),
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  private async credential(): Promise<string> {
    const { apiKey, issuerToken, clock } = this.setup;
    if (apiKey !== undefined && issuerToken === undefined) return apiKey;
    const cached = this.cached;
    if (cached === undefined || clock.nowMs() >= cached.expiresAtMs) return (await this.exchanged()).value;
    // In the background: nobody waits for it, so errors are not reported.
    if (clock.nowMs() >= cached.refreshAtMs) this.exchanged().catch(() => {});
    return cached.value;
  }

  private userHeader(): Readonly<Record<string, string>> {
    const { apiKey, issuerToken, userId, userHeader = 'X-End-User-ID' } = this.setup;
    const isDirect = apiKey !== undefined && issuerToken === undefined;
    return isDirect && userId !== undefined ? { [userHeader]: userId } : {};
  }

  /** One exchange, shared by all callers that need a token now. */
  private exchanged(): Promise<CachedToken> {
    this.exchanging ??= this.exchange().finally(() => {
      this.exchanging = undefined;
    });
    return this.exchanging;
  }

  private async exchange(): Promise<CachedToken> {
    this.refuseWhileHeld();
    const answer = await this.withIdentity((identity) => this.prove(identity));
    const { access_token: value, expires_in: lifetime } = answer;
    if (typeof value !== 'string' || typeof lifetime !== 'number') throw new Error('token: not the promised answer');
    const nowMs = this.setup.clock.nowMs();
    const refreshAtMs = nowMs + refreshAfterSeconds(lifetime) * 1_000;
    this.cached = { value, refreshAtMs, expiresAtMs: nowMs + lifetime * 1_000 };
    return this.cached;
  }

  private refuseWhileHeld(): void {
    if (this.held === undefined) return;
    const remainingMs = this.held.untilMs - this.setup.clock.nowMs();
    if (remainingMs > 0) throw this.held.error.waiting(remainingMs / 1_000);
    this.held = undefined;
  }

  /** Proves with the user's token, and once more with a fresh one if that can help. */
  private async withIdentity(prove: (identity: Json) => Promise<Json>): Promise<Json> {
    const { issuerToken, recoverClaims } = this.setup;
    if (issuerToken === undefined) return prove({});
    const identity = async (forceRefresh: boolean) => ({ issuer_token: await issuerToken({ forceRefresh }) });
    try {
      return await prove(await identity(false));
    } catch (error) {
      const code = codeOf(error);
      if (code !== 'issuer_claims_missing' && code !== 'issuer_token_rejected') throw error;
      if (code === 'issuer_claims_missing') await recoverClaims?.();
      return prove(await identity(true));
    }
  }

  private async prove(identity: Json): Promise<Json> {
    const { appId, apiKey, keystore } = this.setup;
    if (apiKey !== undefined) return this.post('token', { api_key: apiKey, ...identity });
    if (keystore === undefined) throw new Error('neither an API key nor a keystore');
    const known = keystore.keychain.get(appId);
    if (known === undefined) return this.assert(keystore, await this.register(keystore, identity), identity);
    try {
      return await this.assert(keystore, known, identity);
    } catch (error) {
      if (!(error instanceof KeyLost) && codeOf(error) !== 'attest_failed') throw error;
      return this.assert(keystore, await this.register(keystore, identity), identity);
    }
  }

  /** @returns the id of a new key, stored once the service has registered it. */
  private async register(keystore: DeviceKeystore, identity: Json): Promise<string> {
    const keyId = keystore.generateKey();
    const challenge = await this.challenge();
    const attestation = await keystore.attestKey(keyId, sha256(Buffer.from(challenge, 'base64url')));
    const { user_id } = await this.post('register', { ...identity, key_id: keyId, attestation, challenge });
    if (typeof user_id !== 'string') throw new Error('register: not the promised answer');
    keystore.keychain.set(this.setup.appId, keyId);
    return keyId;
  }

  private async assert(keystore: DeviceKeystore, keyId: string, identity: Json): Promise<Json> {
    const challenge = await this.challenge();
    const clientData = `{"app":"${this.setup.appId}","challenge":"${challenge}","key_id":"${keyId}"}`;
    const assertion = keystore.generateAssertion(keyId, clientData);
    return this.post('token', { ...identity, key_id: keyId, assertion, challenge });
  }

  private async challenge(): Promise<string> {
    const { challenge } = await this.post('challenge', {});
    if (typeof challenge !== 'string') throw new Error('challenge: not the promised answer');
    return challenge;
  }

  private async post(route: string, members: Json): Promise<Json> {
    const response = await fetch(this.url(`auth/${route}`), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(members),
    });
    if (response.ok) return JSON.parse(await response.text());
    const error = await errorOf(response);
    if (error.status === 429 && error.retryAfterSeconds !== undefined) {
      this.held = { error, untilMs: this.setup.clock.nowMs() + error.retryAfterSeconds * 1_000 };
    }
    throw error;
  }

  private url(path: string): string {
    return `${this.setup.baseUrl.replace(/\/$/, '')}/v1/apps/${this.setup.appId}/${path}`;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof MobileError ? error.code : undefined;
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
