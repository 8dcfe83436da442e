import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { systemErrorCode } from '../../common/errors/system-error-code.js';
import { Log } from '../../common/log/log.js';
import { lruCache } from '../../common/lru-cache.js';
import { GuardedRequest, OutboundError } from '../../platform/outbound/guarded-request.js';
import { IssuerKey, parseKeySet } from './key-set.rules.js';

/** The keys of one address, their arrival time (`Clock.monotonicMs`) and their size in bytes. */
interface KeySet {
  readonly keys: readonly IssuerKey[];
  readonly arrivedAtMs: number;
  readonly bytes: number;
}

/** Why a fetch of a key set failed. */
type KeySetTrouble = 'jwks_unreachable' | 'jwks_invalid';

/** A failed fetch and its time (`Clock.monotonicMs`). */
interface FailedFetch {
  readonly reason: KeySetTrouble;
  readonly failedAtMs: number;
}

/** Source: docs/reference/application-api.md#identity-tokens. */
const KEY_SET_LIFE_MS = 10 * 60_000;
const REFETCH_PAUSE_MS = 60_000;
const FETCH_TIMEOUT_MS = 5_000;
/** Pause after a failed fetch before the address is fetched again. */
const FAILURE_PAUSE_MS = 2_000;

const MAX_KEY_SET_BYTES = 512 * 1024;
const MAX_KEY_SETS = 1_000;
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/**
 * Caches the public keys of issuers for ten minutes from their arrival, one set per address. Callers of one address
 * share one fetch; addresses do not wait for each other. A failed fetch keeps the cached keys until they expire. For
 * two seconds after it no fetch starts, so that an unavailable provider is not called once per request, and requests do
 * not each wait for the timeout.
 *
 * Source: docs/reference/application-api.md#identity-tokens, docs/reference/security.md#outbound-addresses,
 * docs/reference/security.md#key-sets.
 */
@Injectable()
export class IssuerKeySets {
  readonly #sets = new LRUCache<string, KeySet>({
    max: MAX_KEY_SETS,
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
  });
  readonly #failures = lruCache<FailedFetch>(MAX_KEY_SETS);
  readonly #fetches = new Map<string, Promise<KeySet | KeySetTrouble>>();

  constructor(
    private readonly outbound: GuardedRequest,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * The keys with this `kid`. For an unknown `kid` the set is fetched again at most once a minute.
   *
   * @throws issuer_verification_unavailable no cached key set, and the fetch failed.
   */
  async find(url: string, kid: string): Promise<readonly IssuerKey[]> {
    const known = this.#sets.get(url);
    const ageMs = known === undefined ? Infinity : this.clock.monotonicMs() - known.arrivedAtMs;
    if (known === undefined || ageMs >= KEY_SET_LIFE_MS) return keysNamed(requireSet(await this.fetch(url)), kid);
    const keys = keysNamed(known, kid);
    if (keys.length > 0 || ageMs < REFETCH_PAUSE_MS) return keys;
    const renewed = await this.fetch(url);
    return typeof renewed === 'string' ? keys : keysNamed(renewed, kid);
  }

  private async fetch(url: string): Promise<KeySet | KeySetTrouble> {
    const underWay = this.#fetches.get(url);
    if (underWay !== undefined) return underWay;
    const failed = this.#failures.get(url);
    if (failed !== undefined && this.clock.monotonicMs() - failed.failedAtMs < FAILURE_PAUSE_MS) return failed.reason;
    const fetch = this.request(url).finally(() => this.#fetches.delete(url));
    this.#fetches.set(url, fetch);
    return fetch;
  }

  private async request(url: string): Promise<KeySet | KeySetTrouble> {
    try {
      const answer = await this.outbound.get(url, {
        headers: { accept: 'application/json' },
        timeoutMs: FETCH_TIMEOUT_MS,
        maxBytes: MAX_KEY_SET_BYTES,
      });
      const { status, body } = answer;
      if (status < 200 || status > 299) return this.failed(url, 'jwks_unreachable', `status ${status}`);
      return this.arrived(url, body);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return this.failed(url, 'jwks_unreachable', textOf(error));
    }
  }

  private arrived(url: string, body: Buffer): KeySet | KeySetTrouble {
    const published = parseKeySet(body);
    if (published === undefined) return this.failed(url, 'jwks_invalid', 'not JSON with a list of keys');
    const keys = published.map((key) => new IssuerKey(key));
    const keySet = { keys, arrivedAtMs: this.clock.monotonicMs(), bytes: body.length };
    this.#sets.set(url, keySet);
    this.#failures.delete(url);
    return keySet;
  }

  private failed(url: string, reason: KeySetTrouble, error: string): KeySetTrouble {
    this.#failures.set(url, { reason, failedAtMs: this.clock.monotonicMs() });
    this.log.event('issuer_key_set_failed', { url: withoutQuery(url), reason, error });
    return reason;
  }
}

/** For the log: some identity providers take an access key in the query. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function keysNamed({ keys }: KeySet, kid: string): readonly IssuerKey[] {
  return keys.filter((key) => key.kid === kid);
}

function requireSet(fetched: KeySet | KeySetTrouble): KeySet {
  if (typeof fetched !== 'string') return fetched;
  throw new GatewayError('issuer_verification_unavailable', { reason: fetched });
}

function textOf({ reason, cause }: OutboundError): string {
  const code = systemErrorCode(cause);
  return code === undefined ? reason : `${reason}: ${code}`;
}
