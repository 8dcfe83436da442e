import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../common/clock.js';
import { ConfigChanges } from '../platform/database/config-changes.js';
import { EVERYTHING } from '../platform/database/config-changes.rules.js';
import { SnapshotCache } from '../platform/snapshots/snapshot-cache.js';
import type { AppKey } from './app-key.js';
import { hashAppKey, isAppKey } from './app-key.rules.js';
import { AppKeyUses, type UsedAppKey } from './app-key-uses.js';
import { AppKeysRepository } from './app-keys.repository.js';

/** Topic of {@link ConfigChanges} for application keys; the key is the hash of the application key. */
const APP_KEYS_TOPIC = 'app_keys';

const REFRESH_AFTER_MS = 30_000;
/** Source: contract-app 1.3; both ages count from the start of the look-up. */
const HIT_AGE_MS = 60_000;
const MISS_AGE_MS = 10_000;
const MAX_KEYS = 10_000;

/** Finds the key a caller presents, from memory when it was presented within the minute. */
@Injectable()
export class AppKeyDirectory implements OnModuleDestroy {
  private readonly keys: SnapshotCache<UsedAppKey>;
  private readonly unsubscribe: () => void;

  constructor(
    private readonly repository: AppKeysRepository,
    private readonly uses: AppKeyUses,
    private readonly configChanges: ConfigChanges,
    clock: Clock,
  ) {
    this.keys = new SnapshotCache({
      load: (keyHash) => this.load(keyHash),
      clock,
      refreshAfterMs: REFRESH_AFTER_MS,
      maxAgeMs: HIT_AGE_MS,
      missAgeMs: MISS_AGE_MS,
      max: MAX_KEYS,
    });
    this.unsubscribe = configChanges.subscribe(APP_KEYS_TOPIC, (keyHash) => {
      if (keyHash === EVERYTHING) this.keys.invalidateAll();
      else this.keys.invalidate(keyHash);
    });
  }

  onModuleDestroy(): void {
    this.unsubscribe();
  }

  /**
   * The key with this plaintext, revoked ones included; the caller judges status and application. An active key counts
   * as used. Memory holds hashes only.
   *
   * @returns `undefined`, itself or in the promise, when there is no such key.
   */
  find(plaintext: string): AppKey | undefined | Promise<AppKey | undefined> {
    if (!isAppKey(plaintext)) return undefined;
    const found = this.keys.get(hashAppKey(plaintext));
    return found instanceof Promise ? found.then((used) => this.present(used)) : this.present(found);
  }

  /** Tells every instance, when the transaction commits, that the key with this hash changed. */
  announceChange(tx: EntityManager, keyHash: string): Promise<void> {
    return this.configChanges.publish(tx, { topic: APP_KEYS_TOPIC, key: keyHash });
  }

  /** For this instance, after the commit: the very next call sees the change. */
  forget(keyHash: string): void {
    this.keys.invalidate(keyHash);
  }

  private present(used: UsedAppKey | undefined): AppKey | undefined {
    if (used?.key.status === 'active') this.uses.note(used);
    return used?.key;
  }

  private async load(keyHash: string): Promise<UsedAppKey | undefined> {
    const stored = await this.repository.findByHash(keyHash);
    if (stored === undefined) return undefined;
    const { id, appId, organizationId, status, lastUsedAt } = stored;
    return { key: Object.freeze({ id, appId, organizationId, status }), lastUsedAtMs: lastUsedAt?.getTime() ?? 0 };
  }
}
