import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { signInRefused } from '../../accounts/access/admin-access.rules.js';
import { type PersonPrincipal, personActor } from '../../accounts/access/admin-principal.js';
import { AuditTrail } from '../../accounts/audit/audit-trail.js';
import { Clock, instantOf } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { violatesUnique } from '../../platform/database/database-errors.js';
import { type BrowserClient, BrowserSessions } from '../browser-sessions.service.js';
import { People, type SignedInPerson } from '../people/people.service.js';
import { requireRecentSignIn } from '../recent-sign-in.rules.js';
import type { ChallengePurpose } from './passkey.entity.js';
import {
  challengeOf,
  type NewPasskeyAnswer,
  type PasskeyAnswer,
  registrationOptions,
  signInOptions,
  verifyNew,
  verifySignature,
} from './passkey-verification.js';
import { type PasskeyRow, PasskeysRepository } from './passkeys.repository.js';
import type { RelyingParty } from './relying-party.rules.js';

/** Source: docs/reference/security.md#sign-in. */
export const CHALLENGE_SECONDS = 300;
const CHALLENGE_BYTES = 32;
const BINDING_BYTES = 32;
const ID_RANDOM_LENGTH = 20;
const MAX_PASSKEYS = 20;

/** A challenge for a sign-in, and the text that binds it to the browser. */
export interface SignInChallenge {
  readonly options: object;
  readonly binding: Secret;
}

/**
 * Sign-in with passkeys (WebAuthn). A challenge is bound to the session that registers or the browser that signs in,
 * expires, and is deleted before its signature is verified: whatever the outcome, it cannot be tried again.
 *
 * Source: docs/reference/management-api.md#passkeys, docs/reference/security.md#sign-in.
 */
@Injectable()
export class Passkeys {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: PasskeysRepository,
    private readonly people: People,
    private readonly sessions: BrowserSessions,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /** The oldest first. */
  list({ identityId }: PersonPrincipal): Promise<readonly PasskeyRow[]> {
    return this.repository.listOf(identityId);
  }

  /** @throws forbidden the sign-in is not recent; conflict the person has the most passkeys allowed. */
  async startRegistration(acting: PersonPrincipal, browser: BrowserClient, site: RelyingParty): Promise<object> {
    requireRecentSignIn(browser.session?.row.createdAt, this.clock.nowMs());
    const [person, own] = await Promise.all([this.people.profile(acting), this.repository.listOf(acting.identityId)]);
    requireRoom(own);
    const challenge = await this.newChallenge('register', acting.sessionId);
    return registrationOptions(site, challenge, person, own);
  }

  /**
   * Stores a passkey of the signed-in person.
   *
   * @throws forbidden, conflict as `startRegistration`; conflict the passkey is already stored; invalid_request
   * anything else is wrong with it.
   */
  async register(
    acting: PersonPrincipal,
    browser: BrowserClient,
    site: RelyingParty,
    { name, ...answer }: NewPasskeyAnswer & { readonly name: string },
  ): Promise<PasskeyRow> {
    requireRecentSignIn(browser.session?.row.createdAt, this.clock.nowMs());
    const { identityId } = acting;
    const challenge = await this.takenChallenge('register', acting.sessionId, answer.clientDataJSON);
    const verified = await verifyNew(site, challenge, answer).catch((cause: unknown) => {
      throw passkeyRefused(cause);
    });
    const passkey: PasskeyRow = {
      ...{ id: `passkey_${this.ids.base36(ID_RANDOM_LENGTH)}`, identityId, name, lastUsedAt: null },
      ...{ credentialId: verified.credentialId, publicKey: Buffer.from(verified.publicKey) },
      ...{ counter: String(verified.counter), createdAt: this.clock.now() },
    };
    try {
      await this.dataSource.transaction(async (tx) => {
        await this.people.lock(tx, identityId);
        requireRoom(await this.repository.listOf(identityId, tx));
        await this.repository.insert(tx, passkey);
        await this.record(tx, acting, 'passkey.created', passkey);
      });
    } catch (error) {
      if (violatesUnique(error, 'passkeys_credential_key')) throw alreadyStored();
      throw error;
    }
    return passkey;
  }

  async startSignIn(site: RelyingParty): Promise<SignInChallenge> {
    const binding = new Secret(Buffer.from(this.ids.bytes(BINDING_BYTES)).toString('base64url'));
    const challenge = await this.newChallenge('sign_in', binding.reveal());
    return { options: await signInOptions(site, challenge), binding };
  }

  /**
   * Opens a session for the person of a passkey. Every failure has the same answer.
   *
   * @param binding of the browser, from `startSignIn`.
   * @throws auth_required
   */
  async signIn(
    answer: PasskeyAnswer,
    { site, binding, browser }: { site: RelyingParty; binding: Secret | undefined; browser: BrowserClient },
  ): Promise<SignedInPerson> {
    if (binding === undefined) throw passkeySignInRefused();
    const challenge = await this.takenChallenge('sign_in', binding.reveal(), answer.clientDataJSON).catch((cause) => {
      throw passkeySignInRefused(cause);
    });
    return this.dataSource.transaction(async (tx) => {
      const stored = await this.repository.lockByCredential(tx, answer.id);
      if (stored === undefined) throw passkeySignInRefused();
      const counter = await verifySignature(site, challenge, stored, answer).catch((cause: unknown) => {
        throw passkeySignInRefused(cause);
      });
      const person = await this.people.find(stored.identityId, tx);
      if (person === undefined) throw passkeySignInRefused();
      await this.repository.markUsed(tx, stored.id, counter, this.clock.now());
      return { person, session: await this.sessions.open(tx, person.id, browser) };
    });
  }

  /**
   * Deletes a passkey of the signed-in person; sessions that it opened stay.
   *
   * @throws forbidden the sign-in is not recent; not_found the person has no such passkey.
   */
  async remove(acting: PersonPrincipal, browser: BrowserClient, id: string): Promise<void> {
    requireRecentSignIn(browser.session?.row.createdAt, this.clock.nowMs());
    await this.dataSource.transaction(async (tx) => {
      const name = await this.repository.delete(tx, acting.identityId, id);
      if (name === undefined) throw new GatewayError('not_found', { message: 'There is no such passkey.' });
      await this.record(tx, acting, 'passkey.removed', { id, name });
    });
  }

  private async newChallenge(purpose: ChallengePurpose, binding: string): Promise<Uint8Array> {
    const challenge = this.ids.bytes(CHALLENGE_BYTES);
    const nowMs = this.clock.nowMs();
    await this.repository.insertChallenge(
      {
        ...{
          purpose,
          bindingHash: hashOf(binding),
          challengeHash: hashOf(Buffer.from(challenge).toString('base64url')),
        },
        expiresAt: instantOf(nowMs + CHALLENGE_SECONDS * 1_000),
      },
      instantOf(nowMs),
    );
    return challenge;
  }

  /** The challenge of an answer, which is no longer stored. @throws invalid_request it was not pending. */
  private async takenChallenge(purpose: ChallengePurpose, binding: string, clientDataJSON: string): Promise<string> {
    const challenge = readChallenge(clientDataJSON);
    const pending = { purpose, challengeHash: hashOf(challenge), bindingHash: hashOf(binding) };
    if (await this.repository.takeChallenge(pending, this.clock.now())) return challenge;
    throw passkeyRefused(new Error('No such challenge is pending.'));
  }

  private async record(
    tx: EntityManager,
    acting: PersonPrincipal,
    action: 'passkey.created' | 'passkey.removed',
    { id, name }: Pick<PasskeyRow, 'id' | 'name'>,
  ): Promise<void> {
    if (acting.organizationId === null) return;
    const entry = { action, targetType: 'passkey', targetId: id, details: { name } };
    await this.trail.record(tx, personActor(acting.organizationId, acting), entry);
  }
}

function readChallenge(clientDataJSON: string): string {
  try {
    return challengeOf(clientDataJSON);
  } catch (cause) {
    throw passkeyRefused(cause);
  }
}

function requireRoom(own: readonly PasskeyRow[]): void {
  if (own.length < MAX_PASSKEYS) return;
  throw new GatewayError('conflict', {
    message: `You have ${MAX_PASSKEYS} passkeys, the maximum; remove one first.`,
    reason: 'too_many_passkeys',
  });
}

function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}

function alreadyStored(): GatewayError {
  return new GatewayError('conflict', { message: 'This passkey is stored already.', reason: 'passkey_stored' });
}

function passkeyRefused(cause: unknown): GatewayError {
  return new GatewayError('invalid_request', {
    message: 'The passkey was not accepted; start again.',
    reason: 'passkey_refused',
    cause,
  });
}

function passkeySignInRefused(cause?: unknown): GatewayError {
  return signInRefused('passkey_sign_in_refused', 'The sign-in with a passkey failed; try again.', cause);
}
