import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, MoreThan } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { PasskeyChallengeEntity, PasskeyEntity } from './passkey.entity.js';

export type PasskeyRow = Readonly<PasskeyEntity>;
export type PendingChallenge = Readonly<PasskeyChallengeEntity>;

/** Expired challenges that one new challenge deletes, so that the table stays as small as its traffic. */
const DELETED_AT_ONCE = 100;

/** The tables passkeys and passkey_challenges. */
@Injectable()
export class PasskeysRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The oldest first. */
  listOf(identityId: string, within: EntityManager = this.dataSource.manager): Promise<PasskeyRow[]> {
    return within.find(PasskeyEntity, { where: { identityId }, order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** Of any person: the id of a credential determines its person. The row is locked until the transaction ends. */
  async lockByCredential(tx: EntityManager, credentialId: string): Promise<PasskeyRow | undefined> {
    const lock = { mode: 'for_no_key_update' } as const;
    return (await tx.findOne(PasskeyEntity, { where: { credentialId }, lock })) ?? undefined;
  }

  /** @throws QueryFailedError the credential is stored, of any person: constraint `passkeys_credential_key`. */
  async insert(tx: EntityManager, passkey: PasskeyRow): Promise<void> {
    await tx.insert(PasskeyEntity, passkey);
  }

  async markUsed(tx: EntityManager, id: string, counter: number, at: Instant): Promise<void> {
    await tx.update(PasskeyEntity, { id }, { counter: String(counter), lastUsedAt: at });
  }

  /** @returns the name of the deleted one; `undefined` when the person has no such passkey. */
  async delete(tx: EntityManager, identityId: string, id: string): Promise<string | undefined> {
    const deleting = tx.createQueryBuilder().delete().from(PasskeyEntity).where({ identityId, id });
    const { raw }: { raw: readonly { readonly name: string }[] } = await deleting.returning('name').execute();
    return raw[0]?.name;
  }

  /** Stores a challenge, and deletes some that have expired by `at`. */
  async insertChallenge(challenge: PendingChallenge, at: Instant): Promise<void> {
    const { challengeHash, purpose, bindingHash, expiresAt } = challenge;
    await this.dataSource.query(
      `WITH expired AS (SELECT challenge_hash FROM passkey_challenges WHERE expires_at <= $5
                         LIMIT ${DELETED_AT_ONCE} FOR UPDATE SKIP LOCKED),
            deleted AS (DELETE FROM passkey_challenges old USING expired
                         WHERE old.challenge_hash = expired.challenge_hash)
       INSERT INTO passkey_challenges (challenge_hash, purpose, binding_hash, expires_at) VALUES ($1, $2, $3, $4)`,
      [challengeHash, purpose, bindingHash, expiresAt, at],
    );
  }

  /** Deletes a challenge that is in force at `at`. @returns whether it succeeded: only one of concurrent uses does. */
  async takeChallenge(
    { challengeHash, purpose, bindingHash }: Omit<PendingChallenge, 'expiresAt'>,
    at: Instant,
  ): Promise<boolean> {
    const pending = { challengeHash, purpose, bindingHash, expiresAt: MoreThan(at) };
    return (await this.dataSource.manager.delete(PasskeyChallengeEntity, pending)).affected === 1;
  }
}
