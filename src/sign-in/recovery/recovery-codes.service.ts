import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { signInRefused } from '../../accounts/access/admin-access.rules.js';
import { type PersonPrincipal, personActor } from '../../accounts/access/admin-principal.js';
import { comparableEmail } from '../../accounts/access/email-address.js';
import { AuditTrail } from '../../accounts/audit/audit-trail.js';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import type { BrowserClient } from '../browser-sessions.service.js';
import { PasswordHashing } from '../passwords/password-hashing.service.js';
import { PasswordReplacement } from '../passwords/password-replacement.service.js';
import { People, type SignedInPerson } from '../people/people.service.js';
import { requireRecentSignIn } from '../recent-sign-in.rules.js';
import { RecoveryRepository } from './recovery.repository.js';
import { CODE_RANDOM_LENGTH, CODES, readCode, shownCode } from './recovery-code.rules.js';

/** The input of a recovery. */
export interface Recovery {
  readonly email: string;
  readonly code: string;
  readonly newPassword: Secret;
}

/**
 * Codes with which a person who lost their password sets a new one, each once.
 *
 * Every method throws rate_limited, and service_unavailable when the hashing queue is full.
 */
@Injectable()
export class RecoveryCodes {
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

  /** How many are not used. */
  count({ identityId }: PersonPrincipal): Promise<number> {
    return this.repository.countCodes(identityId);
  }

  /**
   * Replaces every code of the signed-in person. Only this result holds them.
   *
   * @throws forbidden the sign-in is not recent.
   */
  async replace(acting: PersonPrincipal, browser: BrowserClient): Promise<readonly string[]> {
    requireRecentSignIn(browser.session?.row.createdAt, this.clock.nowMs());
    const { email } = await this.people.profile(acting);
    await this.passwords.admit(email);
    const { identityId, organizationId } = acting;
    const createdAt = this.clock.now();
    const plain = Array.from({ length: CODES }, (_, position) => `${position}${this.ids.base36(CODE_RANDOM_LENGTH)}`);
    const stored: { identityId: string; position: number; codeHash: string; createdAt: typeof createdAt }[] = [];
    // One after the other: hashing has few slots, and sign-ins wait for them.
    for (const [position, code] of plain.entries()) {
      stored.push({ identityId, position, codeHash: await this.hashing.hash(new Secret(code)), createdAt });
    }
    await this.dataSource.transaction(async (tx) => {
      await this.people.lock(tx, identityId);
      await this.repository.replaceCodes(tx, identityId, stored);
      if (organizationId === null) return;
      const entry = { action: 'recovery_codes.replaced', targetType: 'user', targetId: identityId } as const;
      await this.trail.record(tx, personActor(organizationId, acting), entry);
    });
    return plain.map(shownCode);
  }

  /**
   * Sets a new password with a code, which is used up, and opens a session; all others end. An unknown e-mail address
   * and a wrong code get the same response after the same work.
   *
   * @throws auth_required; invalid_request the new password is too common.
   */
  async recover({ email, code, newPassword }: Recovery, browser: BrowserClient): Promise<SignedInPerson> {
    const subject = comparableEmail(email);
    await this.passwords.admit(subject);
    this.passwords.requireUncommon(newPassword);
    const typed = readCode(code);
    const stored = typed && (await this.repository.findCode(subject, typed.position));
    const isRight = await this.hashing.verify(stored?.codeHash, new Secret(typed?.plain ?? ''));
    const newHash = await this.hashing.hash(newPassword);
    if (stored === undefined || !isRight) throw recoveryRefused();
    return this.dataSource.transaction(async (tx) => {
      if (!(await this.repository.takeCode(tx, stored))) throw recoveryRefused();
      const person = await this.people.find(stored.identityId, tx);
      if (person === undefined) throw recoveryRefused();
      return { person, session: await this.passwords.replaceAndOpen(tx, person.id, newHash, browser) };
    });
  }
}

function recoveryRefused(): GatewayError {
  return signInRefused('recovery_refused', 'Wrong e-mail or recovery code.');
}
