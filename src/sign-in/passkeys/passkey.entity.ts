import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { IdentityEntity } from '../../accounts/access/organization.entity.js';
import type { Instant } from '../../common/clock.js';

/** A passkey of a person: the public half of a key that stays with their devices. */
@Entity('passkeys')
@Unique('passkeys_credential_key', ['credentialId'])
@Index('passkeys_identity_idx', ['identityId'])
export class PasskeyEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'passkeys_pkey' })
  id: string;

  @Column({ name: 'identity_id', type: 'text' })
  @ForeignKey(() => IdentityEntity, { name: 'passkeys_identity_fkey', onDelete: 'CASCADE' })
  identityId: string;

  /** As the authenticator names it, base64url. */
  @Column({ name: 'credential_id', type: 'text' })
  credentialId: string;

  /** COSE. */
  @Column({ name: 'public_key', type: 'bytea' })
  publicKey: Buffer;

  /** `bigint`, as text. 0 for authenticators that do not count. */
  @Column({ type: 'bigint' })
  counter: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'last_used_at', type: 'timestamptz', nullable: true })
  lastUsedAt: Instant | null;
}

/** What a challenge is signed for. */
export type ChallengePurpose = 'register' | 'sign_in';

/** A challenge that waits for its signature. It is deleted with its first use. */
@Entity('passkey_challenges')
@Check('passkey_challenges_purpose_check', "purpose IN ('register', 'sign_in')")
@Index('passkey_challenges_expires_idx', ['expiresAt'])
export class PasskeyChallengeEntity {
  @PrimaryColumn({ name: 'challenge_hash', type: 'text', primaryKeyConstraintName: 'passkey_challenges_pkey' })
  challengeHash: string;

  @Column({ type: 'text' })
  purpose: ChallengePurpose;

  /** Of the session that registers, or of the cookie of the browser that signs in. */
  @Column({ name: 'binding_hash', type: 'text' })
  bindingHash: string;

  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt: Instant;
}
