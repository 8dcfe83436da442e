import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AuditActor } from '../../accounts/access/admin-principal.js';
import { AuditTrail } from '../../accounts/audit/audit-trail.js';
import { type OpenedSession, Sessions } from '../../accounts/sessions/sessions.service.js';
import { Clock } from '../../common/clock.js';
import type { Secret } from '../../common/log/secret.js';
import { AddressLimits } from '../../platform/address-limits/address-limits.service.js';
import { type BrowserClient, BrowserSessions } from '../browser-sessions.service.js';
import { PeopleRepository } from '../people/people.repository.js';
import { requireUncommonPassword } from './common-password.rules.js';
import { PasswordsRepository } from './passwords.repository.js';

/** Sets passwords without the current one, for a person who proved their identity by other means. */
@Injectable()
export class PasswordReplacement {
  constructor(
    private readonly repository: PasswordsRepository,
    private readonly limits: AddressLimits,
    private readonly sessions: Sessions,
    private readonly browserSessions: BrowserSessions,
    private readonly people: PeopleRepository,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Counts an attempt as a sign-in. @throws rate_limited */
  async admit(email: string): Promise<void> {
    await this.limits.admit('sign_in_email', { subject: email });
  }

  /** @throws invalid_request naming `newPassword`. */
  requireUncommon(newPassword: Secret): void {
    requireUncommonPassword('newPassword', newPassword);
  }

  /** Sets the password, ends every session and opens one. */
  async replaceAndOpen(
    tx: EntityManager,
    identityId: string,
    newHash: string,
    browser: BrowserClient,
  ): Promise<OpenedSession> {
    await this.repository.set(tx, { identityId, passwordHash: newHash }, this.clock.now());
    const session = await this.browserSessions.replaceAll(tx, identityId, browser);
    await this.record(tx, identityId, 'recovery_code.used', session.id);
    return session;
  }

  /** Sets the password and ends every session. */
  async replace(tx: EntityManager, identityId: string, newHash: string): Promise<void> {
    await this.repository.set(tx, { identityId, passwordHash: newHash }, this.clock.now());
    await this.sessions.endOwn(tx, identityId);
    await this.record(tx, identityId, 'password.reset', null);
  }

  /** In the organization in which the person signs in. */
  private async record(
    tx: EntityManager,
    identityId: string,
    action: 'recovery_code.used' | 'password.reset',
    credentialId: string | null,
  ): Promise<void> {
    const organizationId = await this.people.findHome(tx, identityId, this.clock.now());
    if (organizationId === undefined) return;
    const actor = { type: 'user', id: identityId, kind: 'human', credentialId, actionSource: 'web' } as const;
    const who: AuditActor = { organizationId, credentialType: 'session', credentialId, actor };
    await this.trail.record(tx, who, { action, targetType: 'user', targetId: identityId });
  }
}
