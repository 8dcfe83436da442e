import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Secret } from '../../common/log/secret.js';
import { comparableEmail } from '../../identity/email-address.js';
import type { BrowserClient } from '../browser-client.js';
import { Registration, type SignedInPerson } from '../people/registration.service.js';
import { RegistrationPolicy } from '../people/registration-policy.service.js';
import type { PasswordCredential } from './password-sign-in.service.js';
import { Passwords } from './passwords.service.js';

/** The input of a registration. */
export interface PasswordRegistration extends PasswordCredential {
  readonly name: string;
  /** The token of an invitation. */
  readonly invitation: Secret | undefined;
  /** The bootstrap key, which claims its account. */
  readonly bootstrapKey: Secret | undefined;
}

/** Registers people with a password. */
@Injectable()
export class PasswordSignUp {
  constructor(
    private readonly dataSource: DataSource,
    private readonly passwords: Passwords,
    private readonly policy: RegistrationPolicy,
    private readonly registration: Registration,
  ) {}

  /**
   * Registers a person and opens their first session. The password is hashed before the e-mail address is looked up, so
   * that the duration does not reveal whether the address is registered.
   *
   * @throws registration_disabled, not_found, forbidden, conflict as `Registration`; rate_limited; service_unavailable
   * the hashing queue is full.
   */
  async signUp(typed: PasswordRegistration, browser: BrowserClient): Promise<SignedInPerson> {
    const { name, invitation, bootstrapKey, password } = typed;
    const email = comparableEmail(typed.email);
    await this.policy.requireAllowed({ email, invitation, bootstrapKey });
    const passwordHash = await this.passwords.hashFirst(email, password);
    const newcomer = { name, email, invitation, bootstrapKey, emailVerified: false, image: null };
    return this.dataSource.transaction(async (tx) => {
      const registered = await this.registration.register(tx, newcomer, browser);
      await this.passwords.store(tx, { identityId: registered.person.id, passwordHash });
      return registered;
    });
  }
}
