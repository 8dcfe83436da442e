import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type AcceptingPerson, Invitations } from '../../accounts/organizations/invitations/invitations.service.js';
import { Organizations } from '../../accounts/organizations/organizations.service.js';
import { UnclaimedOrganizations } from '../../accounts/organizations/unclaimed-organizations.service.js';
import type { OpenedSession } from '../../accounts/sessions/sessions.service.js';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import type { Secret } from '../../common/log/secret.js';
import { Environment } from '../../platform/config/environment.js';
import { violatesUnique } from '../../platform/database/database-errors.js';
import { type BrowserClient, BrowserSessions } from '../browser-sessions.service.js';
import { PeopleRepository, type PersonChanges, type PersonRow } from './people.repository.js';

/** A person to sign up. */
export interface NewPerson extends Pick<PersonRow, 'name' | 'image' | 'emailVerified'> {
  /** In the form of `comparableEmail`. */
  readonly email: string;
  /** The token of an invitation. */
  readonly invitation: Secret | undefined;
  /** The bootstrap key, which claims its organization; never together with an invitation. */
  readonly bootstrapKey?: Secret | undefined;
  /** Whether the person is to claim an organization next, and gets none of their own. */
  readonly isClaiming?: boolean | undefined;
}

/** A person and their new session. */
export interface SignedInPerson {
  readonly person: PersonRow;
  readonly session: OpenedSession;
}

/**
 * Sign-up and profiles of people. Anyone may sign up until the first person exists; afterwards only if the operator
 * allows it. An invitation, the bootstrap key of an unclaimed organization, or the proof of a claim always allows it
 * (docs/adr/0022).
 *
 * Source: docs/reference/management-api.md#registration.
 */
@Injectable()
export class People {
  constructor(
    private readonly repository: PeopleRepository,
    private readonly sessions: BrowserSessions,
    private readonly organizations: Organizations,
    private readonly invitations: Invitations,
    private readonly unclaimed: UnclaimedOrganizations,
    private readonly environment: Environment,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /** Whether anyone may sign up without an invitation or key. */
  async isSignUpOpen(): Promise<boolean> {
    return this.environment.ALLOW_ADDITIONAL_REGISTRATIONS || (await this.isFirstAwaited());
  }

  /** Whether nobody has signed up yet. */
  async isFirstAwaited(): Promise<boolean> {
    return !(await this.repository.hasAny());
  }

  /**
   * Refuses a sign-up that is not allowed. It runs before the e-mail address is looked up, so that the response does
   * not reveal whether an address is registered.
   *
   * @throws registration_disabled; not_found the invitation cannot be accepted, forbidden it is for another address;
   * forbidden, conflict as `UnclaimedOrganizations.requireClaimable`.
   * Source: docs/reference/security.md#sign-in.
   */
  async requireSignUpAllowed({
    email,
    invitation,
    bootstrapKey,
    isClaiming,
  }: Pick<NewPerson, 'email' | 'invitation' | 'bootstrapKey' | 'isClaiming'>): Promise<void> {
    if (isClaiming) return;
    if (bootstrapKey !== undefined) await this.unclaimed.requireClaimable(bootstrapKey);
    else if (invitation !== undefined) await this.invitations.requireInvited(invitation, email);
    else if (!(await this.isSignUpOpen())) throw signUpClosed();
  }

  /**
   * Stores a person with a first session and a first organization. The caller stores the credential in the same
   * transaction.
   *
   * @throws registration_disabled another person signed up first; not_found, forbidden the invitation cannot be
   * accepted or is for another address, or the key created no organization; conflict the e-mail address is taken, or
   * the organization is claimed.
   */
  async signUp(tx: EntityManager, newcomer: NewPerson, browser: BrowserClient): Promise<SignedInPerson> {
    const { invitation, bootstrapKey, isClaiming, email } = newcomer;
    if (bootstrapKey !== undefined || isClaiming) await this.repository.lockSignUp(tx);
    else if (invitation === undefined) await this.requireSignUpOpen(tx);
    const person = await this.insert(tx, newcomer);
    const session = await this.sessions.replace(tx, person.id, browser);
    if (isClaiming) return { person, session };
    const acting = { identityId: person.id, sessionId: session.id };
    const { organizationId } = await this.joinFirstOrganization(tx, { ...acting, email }, newcomer);
    await this.sessions.recordOpened(tx, organizationId, acting);
    return { person, session };
  }

  find(identityId: string, within?: EntityManager): Promise<PersonRow | undefined> {
    return this.repository.find(identityId, within);
  }

  /** Serializes changes of a person's credentials until the transaction ends. */
  async lock(tx: EntityManager, identityId: string): Promise<void> {
    await this.repository.lock(tx, identityId);
  }

  /** As `lock`; the person also joins no organization until the transaction ends. */
  async lockWhole(tx: EntityManager, identityId: string): Promise<void> {
    await this.repository.lock(tx, identityId, 'pessimistic_write');
  }

  /** @throws Error no such person. A session ends with its person, so this is a defect. */
  async profile({ identityId }: { readonly identityId: string }): Promise<PersonRow> {
    const person = await this.repository.find(identityId);
    if (person === undefined) throw new Error('A session belongs to nobody.');
    return person;
  }

  async updateProfile(acting: { readonly identityId: string }, changes: PersonChanges): Promise<PersonRow> {
    await this.repository.update(acting.identityId, changes, this.clock.now());
    return this.profile(acting);
  }

  /**
   * Refuses a sign-up without an invitation when a person already exists. Concurrent sign-ups wait until this
   * transaction ends, so that only one becomes the first person.
   *
   * @throws registration_disabled
   */
  private async requireSignUpOpen(tx: EntityManager): Promise<void> {
    if (this.environment.ALLOW_ADDITIONAL_REGISTRATIONS) return;
    await this.repository.lockSignUp(tx);
    if (await this.repository.hasAny(tx)) throw signUpClosed();
  }

  private async insert(tx: EntityManager, newcomer: NewPerson): Promise<PersonRow> {
    const { name, email, emailVerified, image } = newcomer;
    const now = this.clock.now();
    const id = `user_${this.ids.base36(20)}`;
    const person = { id, name, email, emailVerified, image, createdAt: now, updatedAt: now };
    try {
      await this.repository.insert(tx, person);
    } catch (error) {
      if (violatesUnique(error, 'identities_email_key')) throw emailTaken();
      throw error;
    }
    return person;
  }

  /**
   * Claims the organization of the bootstrap key, or accepts the invitation, or creates the person's own organization.
   */
  private async joinFirstOrganization(
    tx: EntityManager,
    { email, ...acting }: AcceptingPerson,
    { invitation, bootstrapKey }: Pick<NewPerson, 'invitation' | 'bootstrapKey'>,
  ): Promise<{ readonly organizationId: string }> {
    if (bootstrapKey !== undefined) return this.unclaimed.claimWithKey(tx, bootstrapKey, acting);
    if (invitation === undefined) return this.organizations.createOwn(tx, acting);
    return this.invitations.accept(tx, invitation, { email, ...acting });
  }
}

function signUpClosed(): GatewayError {
  return new GatewayError('registration_disabled', { reason: 'registration_closed' });
}

function emailTaken(): GatewayError {
  return new GatewayError('conflict', {
    message: 'This e-mail cannot be registered; sign in instead.',
    reason: 'email_taken',
  });
}
