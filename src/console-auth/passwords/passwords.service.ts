import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import type { Secret } from '../../common/log/secret.js';
import { comparableEmail } from '../../identity/email-address.js';
import { AddressLimits } from '../../rate-limits/address-limits.service.js';
import { PasswordHashing } from './password-hashing.service.js';
import { PasswordsRepository, type StoredPassword } from './passwords.repository.js';

/** Passwords of people. The rate limit per e-mail address applies before hashing. */
@Injectable()
export class Passwords {
  constructor(
    private readonly repository: PasswordsRepository,
    private readonly hashing: PasswordHashing,
    private readonly limits: AddressLimits,
    private readonly clock: Clock,
  ) {}

  /**
   * The stored password of an e-mail address if the typed one matches. An unknown address takes as long as a wrong
   * password.
   *
   * @throws rate_limited; service_unavailable the hashing queue is full.
   */
  async prove(email: string, typed: Secret): Promise<StoredPassword | undefined> {
    const subject = comparableEmail(email);
    await this.limits.admit('sign_in_email', { subject });
    const stored = await this.repository.findByEmail(subject);
    return (await this.hashing.verify(stored?.passwordHash, typed)) ? stored : undefined;
  }

  /**
   * The hash of the first password of an e-mail address.
   *
   * @throws rate_limited; service_unavailable the hashing queue is full.
   */
  async hashFirst(email: string, password: Secret): Promise<string> {
    await this.limits.admit('sign_in_email', { subject: comparableEmail(email) });
    return this.hashing.hash(password);
  }

  /** @throws service_unavailable the hashing queue is full. */
  hash(password: Secret): Promise<string> {
    return this.hashing.hash(password);
  }

  store(tx: EntityManager, password: StoredPassword): Promise<void> {
    return this.repository.insert(tx, password, this.clock.now());
  }

  /** @returns false when the stored password has changed since. */
  replace(tx: EntityManager, stored: StoredPassword, newHash: string): Promise<boolean> {
    return this.repository.replace(tx, stored, newHash, this.clock.now());
  }

  /** Whether the password is unchanged. If so, it cannot change until the transaction ends. */
  holds(tx: EntityManager, stored: StoredPassword): Promise<boolean> {
    return this.repository.holds(tx, stored);
  }
}
