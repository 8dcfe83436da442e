import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { AuditTrail } from '../../accounts/audit/audit-trail.js';
import { Clock, type Instant, instantOf } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { proofHash } from '../../common/proof-hash.rules.js';
import type { BrowserClient } from '../browser-sessions.service.js';
import { PasswordHashing } from '../passwords/password-hashing.service.js';
import { PasswordReplacement } from '../passwords/password-replacement.service.js';
import { People } from '../people/people.service.js';
import { requireRecentSignIn } from '../recent-sign-in.rules.js';
import { RecoveryRepository } from './recovery.repository.js';

/** Source: docs/reference/security.md#password-resets. */
const LINK_MS = 24 * 60 * 60 * 1_000;
const TOKEN_CHARACTERS = 48;

/** A new link; the only result that holds its token. */
export interface IssuedReset {
  readonly token: Secret;
  readonly expiresAt: Instant;
}

/**
 * Links for members to set a new password, created by an owner. A password opens every organization of its person, so
 * the owner has to own all of them, when the link is created and when it is used.
 *
 * Source: docs/reference/security.md#password-resets.
 */
@Injectable()
export class PasswordResets {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: RecoveryRepository,
    private readonly hashing: PasswordHashing,
    private readonly passwords: PasswordReplacement,
    private readonly people: People,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * @throws forbidden the sign-in is not recent, or the person belongs to an organization that the caller does not own;
   * not_found no such person is a member; conflict the person has no password, or is the caller.
   */
  async issue(admin: AdminPrincipal, browser: BrowserClient, memberId: string): Promise<IssuedReset> {
    const nowMs = this.clock.nowMs();
    requireRecentSignIn(browser.session?.row.createdAt, nowMs);
    const { organizationId, identityId: issuerId } = admin;
    const issued = { token: new Secret(this.ids.base62(TOKEN_CHARACTERS)), expiresAt: instantOf(nowMs + LINK_MS) };
    await this.dataSource.transaction(async (tx) => {
      const member = await this.repository.findMember(tx, organizationId, memberId);
      if (member === undefined || member.kind === 'service') throw new GatewayError('not_found');
      if (memberId === issuerId) throw refused('reset_own', 'Change your own password in the settings.');
      await this.people.lockWhole(tx, memberId);
      if (!member.hasPassword) throw refused('reset_without_password', 'This person does not sign in with a password.');
      if (!(await this.ownsAll(tx, memberId, { issuerId, organizationId }))) throw ownsNotAll();
      const reset = { identityId: memberId, organizationId, issuerId, expiresAt: issued.expiresAt };
      await this.repository.replaceReset(tx, { ...reset, tokenHash: proofHash(issued.token) });
      const entry = { action: 'password_reset.created', targetType: 'member', targetId: memberId } as const;
      await this.trail.record(tx, admin, entry);
    });
    return issued;
  }

  /**
   * Sets the password of the person of a link and ends their sessions.
   *
   * @throws not_found the link is unknown, used, replaced or expired, or its creator no longer owns every organization
   * of the person; invalid_request the password is too common; service_unavailable.
   */
  async redeem(token: Secret, newPassword: Secret): Promise<void> {
    this.passwords.requireUncommon(newPassword);
    const newHash = await this.hashing.hash(newPassword);
    await this.dataSource.transaction(async (tx) => {
      const reset = await this.repository.findReset(tx, proofHash(token), this.clock.now());
      if (reset === undefined) throw linkGone();
      // Waits while the person joins an organization, and lets them join none until the password is set.
      await this.people.lockWhole(tx, reset.identityId);
      const isTaken = await this.repository.takeReset(tx, reset.tokenHash);
      if (!isTaken || !(await this.ownsAll(tx, reset.identityId, reset))) throw linkGone();
      await this.passwords.replace(tx, reset.identityId, newHash);
    });
  }

  private async ownsAll(
    tx: EntityManager,
    identityId: string,
    { issuerId, organizationId }: { readonly issuerId: string; readonly organizationId: string },
  ): Promise<boolean> {
    const memberships = await this.repository.rolesOfIssuer(tx, identityId, issuerId);
    const isMember = memberships.some((membership) => membership.organizationId === organizationId);
    return isMember && memberships.every(({ role }) => role === 'owner');
  }
}

function refused(reason: 'reset_own' | 'reset_without_password', message: string): GatewayError {
  return new GatewayError('conflict', { message, reason });
}

function ownsNotAll(): GatewayError {
  return new GatewayError('forbidden', {
    message:
      'This person also belongs to an account that you do not own, and the password would open it. They can use a ' +
      'recovery code or a passkey, or leave the other account first.',
    reason: 'reset_reaches_other_accounts',
  });
}

function linkGone(): GatewayError {
  return new GatewayError('not_found', {
    message: 'This link does not work: it was used, replaced or has expired. Ask an owner for another one.',
    reason: 'password_reset_unknown',
  });
}
