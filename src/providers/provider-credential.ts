import type { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Log } from '../common/log/log.js';
import { type Vault, VaultUnreachable } from '../platform/vault/vault.js';
import type { OpenSecrets } from './open-secrets.js';
import type { ProviderRow } from './provider-row.js';
import { type CredentialWay, type SealedCredential, sealedCredential } from './sealed-credential.rules.js';

/** An opened key is renewed in the background from this age on … */
const RENEW_AFTER_MS = 30_000;
/** … and not used beyond this one, … */
const MAX_AGE_MS = 60_000;
/** … except for this much longer while the vault is unreachable. */
const MAX_STALE_MS = 60 * 60 * 1_000;
/** After a failure the vault is left alone for so long. */
const RETRY_PAUSE_MS = 2_000;

/** What opening a key needs. */
export interface CredentialTools {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Log;
  /** Learns every key that is opened for the account. */
  readonly secrets: OpenSecrets;
}

interface Opened {
  readonly headers: readonly string[];
  readonly startedAtMs: number;
  renewAtMs: number;
  usableUntilMs: number;
}

/**
 * The key of one provider instance, or the token of the gateway it is routed through, as the headers that carry it:
 * opened when first needed and kept in memory for a minute. The clear text lives in private fields only: nothing that
 * prints or serialises this object shows it.
 */
export class ProviderCredential {
  readonly #sealed: SealedCredential;
  readonly #tools: CredentialTools;
  #opened: Opened | undefined;
  #opening: Promise<readonly string[]> | undefined;
  #refused: { readonly error: GatewayError; readonly untilMs: number } | undefined;

  /** @param way how the row's calls go; directly when absent. */
  constructor(row: ProviderRow, tools: CredentialTools, way?: CredentialWay) {
    this.#sealed = sealedCredential(row, way);
    this.#tools = tools;
  }

  /** What is open of its account, this one included. */
  get secrets(): OpenSecrets {
    return this.#tools.secrets;
  }

  /** True when this is still the credential of the row: memory must not know better than the vault. */
  isOf(row: ProviderRow, way?: CredentialWay): boolean {
    return sealedCredential(row, way).tiedTo === this.#sealed.tiedTo;
  }

  /**
   * Names and values in turn: the key, then the fixed headers of the route. At once when the key is open; many
   * callers of a closed one wait for one opening.
   *
   * @throws (in the promise) provider_unavailable the key cannot be opened; one `provider_secret_unavailable` line says
   * why.
   */
  headers(): readonly string[] | Promise<readonly string[]> {
    const nowMs = this.#tools.clock.monotonicMs();
    const opened = this.#opened;
    if (opened === undefined || nowMs >= opened.usableUntilMs) return this.#open(nowMs);
    if (nowMs >= opened.renewAtMs) {
      opened.renewAtMs = nowMs + RETRY_PAUSE_MS;
      // What is open still serves; a failure is logged, and met again when it no longer does.
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

  /** What is served when opening failed: for a time the key as it was last opened, else nothing. */
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

/** A caller who refuses for another reason never looks at the key: its failure must not count as unhandled then. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
