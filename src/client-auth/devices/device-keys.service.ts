import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AppRef } from '../../app-directory/app.entity.js';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { type StoredUser, UsersService } from '../../users/users.service.js';
import { challengeNotInForce } from './challenges.service.js';
import {
  DeviceKeysRepository,
  type DeviceKeyUse,
  type NewDeviceKey,
  type UserDevice,
} from './device-keys.repository.js';

/**
 * One per device; beyond the limit the least recently used key is deleted.
 *
 * Source: docs/reference/application-api.md#device-attestation.
 */
const MAX_KEYS_PER_USER = 20;

/** The device keys of users. */
@Injectable()
export class DeviceKeysService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: DeviceKeysRepository,
    private readonly users: UsersService,
    private readonly clock: Clock,
  ) {}

  /** @returns `undefined` when no such user is stored. */
  find(app: AppRef, userId: string, keyId: string): Promise<UserDevice | undefined> {
    return this.repository.findDevice(app, userId, keyId);
  }

  /**
   * Stores an attested key and its user. Nothing is stored for a blocked user.
   *
   * @returns the user's state; the caller refuses a blocked user.
   */
  register(app: AppRef, key: NewDeviceKey): Promise<StoredUser> {
    return this.dataSource.transaction(async (tx) => {
      const user = await this.users.seenIn(tx, app, key.userId);
      if (user.status === 'blocked') return user;
      const now = this.clock.now();
      await this.repository.put(tx, app, key, now);
      await this.repository.deleteOldest(tx, app, key, MAX_KEYS_PER_USER, now);
      return user;
    });
  }

  /**
   * Spends the challenge and raises the counter; of several identical requests one succeeds.
   *
   * @throws attest_failed the challenge is not valid, a concurrent use raised the counter first, or the key is deleted.
   * Source: docs/reference/security.md#attestation-checks.
   */
  async use(app: AppRef, use: DeviceKeyUse): Promise<void> {
    const { spent, moved } = await this.repository.use(app, use, this.clock.now());
    if (!spent) throw challengeNotInForce();
    if (moved) return;
    throw new GatewayError('attest_failed', { reason: use.counter === null ? 'key_unknown' : 'counter_not_greater' });
  }
}
