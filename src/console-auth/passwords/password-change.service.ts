import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';
import type { PersonPrincipal } from '../../identity/admin-principal.js';
import { personActor } from '../../identity/audit/audit-actor.rules.js';
import { AuditTrail } from '../../identity/audit/audit-trail.js';
import { Sessions } from '../../identity/sessions/sessions.service.js';
import type { BrowserClient } from '../browser-client.js';
import { Profile } from '../people/profile.service.js';
import type { SignedInPerson } from '../people/registration.service.js';
import { Passwords } from './passwords.service.js';

/** The input of a password change. */
export interface NewPassword {
  readonly currentPassword: Secret;
  readonly newPassword: Secret;
}

/** Changes the password of a signed-in person. */
@Injectable()
export class PasswordChange {
  constructor(
    private readonly dataSource: DataSource,
    private readonly passwords: Passwords,
    private readonly profile: Profile,
    private readonly sessions: Sessions,
    private readonly trail: AuditTrail,
  ) {}

  /**
   * Replaces the password and every session: the current session continues with a new token, the others end. The check
   * of the current password has the rate limit of sign-in, so a stolen session does not speed up guessing.
   *
   * @throws invalid_request the current password is wrong, or there is none; rate_limited; service_unavailable the
   * hashing queue is full.
   * Source: docs/reference/management-api.md#passwords-and-third-parties, docs/reference/security.md#revocation.
   */
  async change(acting: PersonPrincipal, typed: NewPassword, browser: BrowserClient): Promise<SignedInPerson> {
    const person = await this.profile.read(acting);
    const stored = await this.passwords.prove(person.email, typed.currentPassword);
    if (stored === undefined) throw wrongPassword();
    const newHash = await this.passwords.hash(typed.newPassword);
    return this.dataSource.transaction(async (tx) => {
      if (!(await this.passwords.replace(tx, stored, newHash))) throw wrongPassword();
      const session = await this.sessions.open(tx, person.id, browser);
      await this.sessions.endOthers(tx, person.id, session.id);
      if (acting.organizationId !== null) {
        const entry = { action: 'password.changed', targetType: 'user', targetId: person.id } as const;
        await this.trail.record(tx, personActor(acting.organizationId, acting), entry);
      }
      return { person, session };
    });
  }
}

function wrongPassword(): GatewayError {
  return invalidRequest('currentPassword', 'is not your password', 'password_wrong');
}
