import { Injectable } from '@nestjs/common';
import type { AppRef } from '../app-directory/app.entity.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { type MaybePromise, whenResolved } from '../common/maybe-promise.js';
import { type ConfigChange, ConfigChanges } from '../platform/database/config-changes.js';
import { NotifiedCache } from '../platform/snapshots/snapshot-cache.js';
import { UsersRepository } from './users.repository.js';

/** Topic of {@link ConfigChanges} for blocked users; the key is the id of the application. */
const BLOCKED_USERS_TOPIC = 'blocked_users';

const REFRESH_AFTER_MS = 5_000;
/** Source: docs/reference/security.md#revocation; counts from the start of the look-up. */
const MAX_AGE_MS = 10_000;
const MAX_APPS = 10_000;

/** Caches the set of blocked users per application. */
@Injectable()
export class BlockedUsers {
  private readonly blocked: NotifiedCache<ReadonlySet<string>>;

  constructor(repository: UsersRepository, configChanges: ConfigChanges, clock: Clock) {
    this.blocked = new NotifiedCache<ReadonlySet<string>>(configChanges, {
      topics: [BLOCKED_USERS_TOPIC],
      load: async (appId) => new Set(await repository.listBlocked(appId)),
      clock,
      refreshAfterMs: REFRESH_AFTER_MS,
      maxAgeMs: MAX_AGE_MS,
      missAgeMs: MAX_AGE_MS,
      max: MAX_APPS,
    });
  }

  /**
   * Whether a user of an application is blocked; synchronous on a cache hit, and at most ten seconds old. A database
   * error propagates, so that no call is decided on missing data.
   */
  isBlocked(app: AppRef, userId: string): MaybePromise<boolean> {
    return whenResolved(this.blocked.get(app.id), (blocked) => blocked?.has(userId) ?? false);
  }
}

/** A change of the blocked users of an application. */
export function blockedUsersChange(appId: string): ConfigChange {
  return { topic: BLOCKED_USERS_TOPIC, key: appId };
}

/** Refusal of a blocked user. Source: docs/reference/application-api.md#blocked-users. */
export function userBlocked(): GatewayError {
  return new GatewayError('auth_required', {
    status: 403,
    message: 'This user is blocked.',
    reason: 'user_blocked',
  });
}
