import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AppRef } from '../app-directory/app-row.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { type StoredUser, UsersService } from '../users/users.service.js';
import { challengeNotInForce } from './challenges.service.js';
import {
  DeviceKeysRepository,
  type DeviceKeyUse,
  type NewDeviceKey,
  type UserDevice,
} from './device-keys.repository.js';

/**
 * One a device; the oldest unused one goes when there are more.
 *
 * Source: docs/reference/application-api.md#device-attestation.
 */
const MAX_KEYS_PER_USER = 20;

/** The keys with which the devices of users prove themselves. */
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
   * Stores a key that was attested, and its user with it. For a blocked user nothing is stored.
   *
   * @returns the user as they were before.
   */
  register(app: AppRef, key: NewDeviceKey): Promise<StoredUser> {
    return this.dataSource.transaction(async (tx) => {
      const user = await this.users.seenIn(tx, app, key.userId);
      if (user.status === 'blocked') return user;
      await this.repository.put(tx, app, key, this.clock.now());
      await this.repository.deleteOldest(tx, app, key, MAX_KEYS_PER_USER);
      return user;
    });
  }

  /**
   * Uses the challenge up and moves the counter, once for all who present the same.
   *
   * @throws attest_failed the challenge is not in force, or another use was quicker.
   * Source: docs/reference/security.md#attestation-checks.
   */
  async use(app: AppRef, use: DeviceKeyUse): Promise<void> {
    const { spent, moved } = await this.repository.use(app, use, this.clock.now());
    if (!spent) throw challengeNotInForce();
    if (!moved) throw new GatewayError('attest_failed', { reason: 'counter_not_greater' });
  }
}
