import { Injectable } from '@nestjs/common';
import { Clock, type Instant } from '../common/clock.js';
import type { MaybePromise } from '../common/maybe-promise.js';
import { type ConfigChange, ConfigChanges } from '../platform/database/config-changes.js';
import { NotifiedCache } from '../platform/snapshots/snapshot-cache.js';
import type { AppKey } from './app-key.entity.js';
import { hashAppKey, isAppKey, isAppKeyId, statusAt } from './app-key.rules.js';
import { AppKeyUses } from './app-key-uses.js';
import { AppKeysRepository, type StoredAppKey } from './app-keys.repository.js';

/** Topic of {@link ConfigChanges} for application keys; each change is published by hash and by id. */
const APP_KEYS_TOPIC = 'app_keys';

const REFRESH_AFTER_MS = 30_000;
/** Source: docs/reference/security.md#revocation; both ages count from the start of the look-up. */
const HIT_AGE_MS = 60_000;
const MISS_AGE_MS = 10_000;
const MAX_KEYS = 10_000;

/** A cached key with its last known use. */
interface UsedAppKey {
  readonly key: AppKey;
  readonly expiresAt: Instant | null;
  /** Milliseconds since the epoch; 0 = never. */
  lastUsedAtMs: number;
}

/** Finds keys by plaintext or by the id in a gateway token. Results are cached for at most one minute. */
@Injectable()
export class AppKeyDirectory {
  private readonly byHash: NotifiedCache<UsedAppKey>;
  private readonly byId: NotifiedCache<UsedAppKey>;

  constructor(
    private readonly repository: AppKeysRepository,
    private readonly uses: AppKeyUses,
    configChanges: ConfigChanges,
    private readonly clock: Clock,
  ) {
    const ages = { refreshAfterMs: REFRESH_AFTER_MS, maxAgeMs: HIT_AGE_MS, missAgeMs: MISS_AGE_MS };
    const options = { ...ages, clock, max: MAX_KEYS, topics: [APP_KEYS_TOPIC] };
    this.byHash = new NotifiedCache(configChanges, {
      ...options,
      load: (hash) => repository.findByHash(hash).then(toUsedKey),
    });
    this.byId = new NotifiedCache(configChanges, { ...options, load: (id) => repository.findById(id).then(toUsedKey) });
  }

  /**
   * The key of a plaintext, also when revoked or expired; the caller checks status and application. An active key is
   * recorded as used. The cache holds hashes only; whether a key has expired is decided at each look-up.
   *
   * @returns `undefined`, directly or in the promise, when there is no such key.
   */
  find(plaintext: string): MaybePromise<AppKey | undefined> {
    if (!isAppKey(plaintext)) return undefined;
    return this.noted(this.byHash.get(hashAppKey(plaintext)));
  }

  /** As {@link find}, without the cache, for callers that need an immediate revocation. */
  async findStored(plaintext: string): Promise<AppKey | undefined> {
    if (!isAppKey(plaintext)) return undefined;
    return this.present(toUsedKey(await this.repository.findByHash(hashAppKey(plaintext))));
  }

  /** As {@link find}, for the key that a gateway token was exchanged for. */
  findById(keyId: string): MaybePromise<AppKey | undefined> {
    if (!isAppKeyId(keyId)) return undefined;
    return this.noted(this.byId.get(keyId));
  }

  private noted(found: MaybePromise<UsedAppKey | undefined>): MaybePromise<AppKey | undefined> {
    return found instanceof Promise ? found.then((used) => this.present(used)) : this.present(found);
  }

  private present(used: UsedAppKey | undefined): AppKey | undefined {
    if (used === undefined) return undefined;
    const { key, expiresAt } = used;
    const status = statusAt({ status: key.status, expiresAt }, this.clock.nowMs());
    if (status === 'active') used.lastUsedAtMs = this.uses.note(key.id, used.lastUsedAtMs);
    return status === key.status ? key : { ...key, status };
  }
}

/** A change of a key, in both caches. */
export function appKeyChanges({ id, hash }: { readonly id: string; readonly hash: string }): ConfigChange[] {
  return [hash, id].map((key) => ({ topic: APP_KEYS_TOPIC, key }));
}

function toUsedKey(stored: StoredAppKey | undefined): UsedAppKey | undefined {
  if (stored === undefined) return undefined;
  const { id, appId, organizationId, status, expiresAt, lastUsedAt } = stored;
  const key = Object.freeze({ id, appId, organizationId, status });
  return { key, expiresAt, lastUsedAtMs: lastUsedAt?.getTime() ?? 0 };
}
