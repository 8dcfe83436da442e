import type { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Log } from '../common/log/log.js';
import { type Vault, VaultUnreachable } from '../platform/vault/vault.js';
import type { ProviderRow } from './provider.entity.js';
import { type CredentialWay, type SealedCredential, sealedCredential } from './sealed-credential.rules.js';
import type { OpenSecrets } from './secret-patterns.js';

/** An opened key is renewed in the background from this age on. */
const RENEW_AFTER_MS = 30_000;
/** Maximum age of an opened key. */
const MAX_AGE_MS = 60_000;
/** Extension of the maximum age while the vault is unreachable. */
const MAX_STALE_MS = 60 * 60 * 1_000;
/** Pause after a failure before the vault is called again. */
const RETRY_PAUSE_MS = 2_000;

/** The dependencies for opening a key. */
export interface CredentialTools {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Log;
  /** Receives every opened key of the account. */
  readonly secrets: OpenSecrets;
}

interface Opened {
  readonly headers: readonly string[];
  readonly startedAtMs: number;
  renewAtMs: number;
  usableUntilMs: number;
}

/**
 * The key of one provider instance, or the token of its gateway, as request headers. It is opened on first use and
 * cached for one minute. The plaintext is in private fields only, so that printing or serialising this object does not
 * reveal it.
 */
export class ProviderCredential {
  readonly #sealed: SealedCredential;
  readonly #tools: CredentialTools;
  #opened: Opened | undefined;
  #opening: Promise<readonly string[]> | undefined;
  #refused: { readonly error: GatewayError; readonly untilMs: number } | undefined;

  /** @param way the route of the row's calls; direct when absent. */
  constructor(row: ProviderRow, tools: CredentialTools, way?: CredentialWay) {
    this.#sealed = sealedCredential(row, way);
    this.#tools = tools;
  }

  /** The opened secrets of its account, including this one. */
  get secrets(): OpenSecrets {
    return this.#tools.secrets;
  }

  /** Whether this is the credential of the row. A cached key must not be used after the stored one has changed. */
  isOf(row: ProviderRow, way?: CredentialWay): boolean {
    return sealedCredential(row, way).tiedTo === this.#sealed.tiedTo;
  }

  /**
   * Alternating names and values: the key, then the fixed headers of the route. Synchronous when the key is open;
   * concurrent callers share one opening.
   *
   * @throws (in the promise) provider_unavailable the key cannot be opened; one `provider_secret_unavailable` line logs
   * the reason.
   */
  headers(): readonly string[] | Promise<readonly string[]> {
    const nowMs = this.#tools.clock.monotonicMs();
    const opened = this.#opened;
    if (opened === undefined || nowMs >= opened.usableUntilMs) return this.#open(nowMs);
    if (nowMs >= opened.renewAtMs) {
      opened.renewAtMs = nowMs + RETRY_PAUSE_MS;
      // The open key still serves. A failure is logged, and surfaces when the key expires.
      void this.#open(nowMs);
    }
    return opened.headers;
  }

  #open(nowMs: number): Promise<readonly string[]> {
    if (this.#refused !== undefined && nowMs < this.#refused.untilMs) return quiet(Promise.reject(this.#refused.error));
    this.#opening ??= quiet(
      this.#openNow(nowMs).finally(() => {
        this.#opening = undefined;
      }),
    );
    return this.#opening;
  }

  async #openNow(startedAtMs: number): Promise<readonly string[]> {
    const { blob, context, route, unusable } = this.#sealed;
    try {
      if (unusable !== undefined) throw new GatewayError('provider_unavailable', { reason: unusable });
      const secret = await this.#tools.vault.open(blob, context);
      this.#tools.secrets.opened(secret.reveal(), startedAtMs);
      const headers = Object.freeze(route.credentialHeaders(secret).flat());
      this.#opened = {
        headers,
        startedAtMs,
        renewAtMs: startedAtMs + RENEW_AFTER_MS,
        usableUntilMs: startedAtMs + MAX_AGE_MS,
      };
      return headers;
    } catch (error) {
      return this.#fallBack(error);
    }
  }

  /** After a failed opening: the previously opened key while the vault is unreachable, otherwise the error. */
  #fallBack(cause: unknown): readonly string[] {
    const { clock, log } = this.#tools;
    const error =
      cause instanceof GatewayError
        ? cause
        : new GatewayError('provider_unavailable', { reason: 'secret_unavailable', cause });
    log.event('provider_secret_unavailable', {
      providerId: this.#sealed.providerId,
      reason: error.reason ?? error.code,
      detail: error instanceof VaultUnreachable ? error.detail : undefined,
    });
    const nowMs = clock.monotonicMs();
    const opened = this.#opened;
    const staleUntilMs = opened === undefined ? 0 : opened.startedAtMs + MAX_AGE_MS + MAX_STALE_MS;
    if (opened !== undefined && error instanceof VaultUnreachable && nowMs < staleUntilMs) {
      opened.renewAtMs = nowMs + RETRY_PAUSE_MS;
      opened.usableUntilMs = Math.min(nowMs + MAX_AGE_MS, staleUntilMs);
      return opened.headers;
    }
    this.#opened = undefined;
    this.#refused = { error, untilMs: nowMs + RETRY_PAUSE_MS };
    throw error;
  }
}

/** Marks a rejection as handled, because a caller that fails for another reason never awaits the key. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
