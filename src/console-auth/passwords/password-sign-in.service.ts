import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';
import type { BrowserClient } from '../browser-client.js';
import { BrowserSessions } from '../browser-sessions.service.js';
import { PeopleRepository } from '../people/people.repository.js';
import type { SignedInPerson } from '../people/registration.service.js';
import { Passwords } from './passwords.service.js';

/** The input of a sign-in. */
export interface PasswordCredential {
  readonly email: string;
  readonly password: Secret;
}

/** Signs people in by password. */
@Injectable()
export class PasswordSignIn {
  constructor(
    private readonly dataSource: DataSource,
    private readonly passwords: Passwords,
    private readonly people: PeopleRepository,
    private readonly sessions: BrowserSessions,
  ) {}

  /**
   * Opens a session. An unknown e-mail address and a wrong password get the same response. The password is checked
   * again in the transaction, because a concurrent password change ends every session.
   *
   * @throws auth_required; rate_limited; service_unavailable the hashing queue is full.
   */
  async signIn({ email, password }: PasswordCredential, browser: BrowserClient): Promise<SignedInPerson> {
    const stored = await this.passwords.prove(email, password);
    if (stored === undefined) throw wrongCredential();
    return this.dataSource.transaction(async (tx) => {
      const person = (await this.passwords.holds(tx, stored))
        ? await this.people.find(stored.identityId, tx)
        : undefined;
      if (person === undefined) throw wrongCredential();
      return { person, session: await this.sessions.open(tx, person.id, browser) };
    });
  }
}

function wrongCredential(): GatewayError {
  return new GatewayError('auth_required', {
    message: 'E-mail or password is wrong.',
    reason: 'sign_in_refused',
    headers: { 'www-authenticate': 'Bearer realm="management"' },
  });
}
