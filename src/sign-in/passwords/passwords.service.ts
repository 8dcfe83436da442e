import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { signInRefused } from '../../accounts/access/admin-access.rules.js';
import { type PersonPrincipal, personActor } from '../../accounts/access/admin-principal.js';
import { comparableEmail } from '../../accounts/access/email-address.js';
import { AuditTrail } from '../../accounts/audit/audit-trail.js';
import { Clock } from '../../common/clock.js';
import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';
import { AddressLimits } from '../../platform/address-limits/address-limits.service.js';
import { type BrowserClient, BrowserSessions } from '../browser-sessions.service.js';
import { People, type SignedInPerson } from '../people/people.service.js';
import { requireUncommonPassword } from './common-password.rules.js';
import { PasswordHashing } from './password-hashing.service.js';
import { PasswordsRepository, type StoredPassword } from './passwords.repository.js';

/** The input of a sign-in. */
interface PasswordCredential {
  readonly email: string;
  readonly password: Secret;
}

/** The input of a sign-up. */
export interface PasswordSignUp extends PasswordCredential {
  readonly name: string;
  /** The token of an invitation. */
  readonly invitation: Secret | undefined;
  /** The bootstrap key, which claims its organization. */
  readonly bootstrapKey: Secret | undefined;
  /** As `NewPerson.isClaiming`. */
  readonly isClaiming?: boolean;
}

/** The input of a password change. */
interface NewPassword {
  readonly currentPassword: Secret;
  readonly newPassword: Secret;
}

/**
 * Sign-up, sign-in and change of password. The rate limit per e-mail address applies before hashing.
 *
 * Every method throws rate_limited, and service_unavailable when the hashing queue is full.
 */
@Injectable()
export class Passwords {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: PasswordsRepository,
    private readonly hashing: PasswordHashing,
    private readonly limits: AddressLimits,
    private readonly people: People,
    private readonly browserSessions: BrowserSessions,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * Signs a person up and opens their first session. The password is hashed before the e-mail address is looked up, so
   * that the duration does not reveal whether the address is registered.
   *
   * @throws invalid_request the password is common; registration_disabled, not_found, forbidden, conflict as
   * `People.signUp`.
   */
  async signUp(input: PasswordSignUp, browser: BrowserClient): Promise<SignedInPerson> {
    const { name, invitation, bootstrapKey, isClaiming, password } = input;
    const email = comparableEmail(input.email);
    await this.people.requireSignUpAllowed({ email, invitation, bootstrapKey, isClaiming });
    await this.limits.admit('sign_in_email', { subject: email });
    requireUncommonPassword('password', password);
    const passwordHash = await this.hashing.hash(password);
    const newcomer = { name, email, invitation, bootstrapKey, isClaiming, emailVerified: false, image: null };
    return this.dataSource.transaction(async (tx) => {
      const signedUp = await this.people.signUp(tx, newcomer, browser);
      await this.repository.insert(tx, { identityId: signedUp.person.id, passwordHash }, this.clock.now());
      return signedUp;
    });
  }

  /**
   * Opens a session. An unknown e-mail address and a wrong password get the same response. The password is checked
   * again in the transaction, because a concurrent password change ends every session.
   *
   * @throws auth_required
   */
  async signIn({ email, password }: PasswordCredential, browser: BrowserClient): Promise<SignedInPerson> {
    const stored = await this.verify(email, password);
    if (stored === undefined) throw wrongCredential();
    return this.dataSource.transaction(async (tx) => {
      const isUnchanged = await this.repository.lockUnchanged(tx, stored);
      const person = isUnchanged ? await this.people.find(stored.identityId, tx) : undefined;
      if (person === undefined) throw wrongCredential();
      return { person, session: await this.browserSessions.open(tx, person.id, browser) };
    });
  }

  /**
   * Replaces the password and every session: the current session continues with a new token, the others end. The check
   * of the current password has the rate limit of sign-in, so a stolen session does not speed up guessing.
   *
   * @throws invalid_request the current password is wrong or missing, or the new one is too common.
   * Source: docs/reference/management-api.md#passwords-and-third-parties, docs/reference/security.md#revocation.
   */
  async change(acting: PersonPrincipal, input: NewPassword, browser: BrowserClient): Promise<SignedInPerson> {
    const person = await this.people.profile(acting);
    const stored = await this.verify(person.email, input.currentPassword);
    if (stored === undefined) throw wrongPassword();
    requireUncommonPassword('newPassword', input.newPassword);
    const newHash = await this.hashing.hash(input.newPassword);
    return this.dataSource.transaction(async (tx) => {
      const isReplaced = await this.repository.replace(tx, stored, newHash, this.clock.now());
      if (!isReplaced) throw wrongPassword();
      const session = await this.browserSessions.replaceAll(tx, person.id, browser);
      if (acting.organizationId !== null) {
        const entry = { action: 'password.changed', targetType: 'user', targetId: person.id } as const;
        await this.trail.record(tx, personActor(acting.organizationId, acting), entry);
      }
      return { person, session };
    });
  }

  /**
   * The stored password of an e-mail address if the given one matches. An unknown address takes as long as a wrong
   * password.
   */
  private async verify(email: string, password: Secret): Promise<StoredPassword | undefined> {
    const subject = comparableEmail(email);
    await this.limits.admit('sign_in_email', { subject });
    const stored = await this.repository.findByEmail(subject);
    return (await this.hashing.verify(stored?.passwordHash, password)) ? stored : undefined;
  }
}

function wrongCredential(): GatewayError {
  return signInRefused('sign_in_refused', 'Wrong e-mail or password.');
}

function wrongPassword(): GatewayError {
  return invalidRequest('currentPassword', 'is not your password', 'password_wrong');
}
