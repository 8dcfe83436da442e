import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Log } from '../common/log/log.js';
import { type ConfigChange, ConfigChanges } from '../platform/database/config-changes.js';
import { NotifiedCache } from '../platform/snapshots/snapshot-cache.js';
import type { AppRow } from './app.entity.js';
import { AppConfigParser } from './app-config-parser.js';
import { AppDirectoryRepository } from './app-directory.repository.js';
import { type AppSnapshot, toAppSnapshot } from './app-snapshot.js';

/** Topic of {@link ConfigChanges} for applications; the key is the application's id. */
const APPS_TOPIC = 'apps';

/** The format of every assigned id; any other value is refused without a database read. */
const APP_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;

const REFRESH_AFTER_MS = 30_000;
/** Source: docs/reference/security.md#revocation. */
const MAX_AGE_MS = 60_000;
const MISS_AGE_MS = 10_000;
const MAX_SNAPSHOTS = 10_000;

/** Finds applications: cached for provider calls, from the database for the management API. */
@Injectable()
export class AppDirectoryService {
  private readonly snapshots: NotifiedCache<AppSnapshot>;

  constructor(
    private readonly repository: AppDirectoryRepository,
    private readonly parser: AppConfigParser,
    private readonly log: Log,
    configChanges: ConfigChanges,
    clock: Clock,
  ) {
    this.snapshots = new NotifiedCache(configChanges, {
      topics: [APPS_TOPIC],
      load: (appId) => this.load(appId),
      clock,
      refreshAfterMs: REFRESH_AFTER_MS,
      maxAgeMs: MAX_AGE_MS,
      missAgeMs: MISS_AGE_MS,
      max: MAX_SNAPSHOTS,
    });
  }

  /**
   * The application of a client's call, in any account. It is returned synchronously on a cache hit, and is at most one
   * minute old.
   *
   * @returns `undefined`, directly or in the promise, when there is no such application.
   */
  find(appId: string): AppSnapshot | undefined | Promise<AppSnapshot | undefined> {
    return APP_ID.test(appId) ? this.snapshots.get(appId) : undefined;
  }

  /**
   * The currently stored application.
   *
   * @throws app_not_found it does not exist or belongs to another account; both look the same.
   */
  async requireOwn(organizationId: string, appId: string): Promise<AppRow> {
    const app = APP_ID.test(appId) ? await this.repository.findOwn(organizationId, appId) : undefined;
    if (app === undefined) throw new GatewayError('app_not_found');
    return app;
  }

  /** Those of the ids that the account has; the others are deleted or another account's. */
  ownIds(organizationId: string, appIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.repository.findOwnIds(organizationId, appIds);
  }

  private async load(appId: string): Promise<AppSnapshot | undefined> {
    const row = await this.repository.findOfAnyAccount(appId);
    if (row === undefined) return undefined;
    const snapshot = toAppSnapshot(row, this.parser.read(row.config));
    if (snapshot.configError !== null) this.log.event('app_config_unreadable', { appId, error: snapshot.configError });
    return snapshot;
  }
}

/** A change or deletion of an application. */
export function appChange(appId: string): ConfigChange {
  return { topic: APPS_TOPIC, key: appId };
}
