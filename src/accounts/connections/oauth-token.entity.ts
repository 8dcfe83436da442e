import { Check, Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { ManagementKeyEntity } from '../management-keys/management-key.entity.js';
import type { TokenAudience } from './oauth-token.rules.js';

/**
 * A generation of tokens of a connection. Tokens are stored as hashes; only their holder can open the sealed response
 * with both.
 */
@Entity('oauth_tokens')
@Check('oauth_tokens_audience_check', "audience IN ('api', 'mcp')")
@Unique('oauth_tokens_access_key', ['accessHash'])
@Unique('oauth_tokens_refresh_key', ['refreshHash'])
export class OAuthTokenEntity {
  @PrimaryColumn({ name: 'connection_id', type: 'text', primaryKeyConstraintName: 'oauth_tokens_pkey' })
  @ForeignKey(() => ManagementKeyEntity, { name: 'oauth_tokens_connection_fkey', onDelete: 'CASCADE' })
  connectionId: string;

  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'oauth_tokens_pkey' })
  generation: number;

  @Column({ type: 'text' })
  audience: TokenAudience;

  @Column({ name: 'access_hash', type: 'text' })
  accessHash: string;

  @Column({ name: 'access_expires_at', type: 'timestamptz' })
  accessExpiresAt: Instant;

  @Column({ name: 'refresh_hash', type: 'text' })
  refreshHash: string;

  /** The newest pair, sealed under this generation's refresh token: a repeated refresh returns the same. */
  @Column({ name: 'sealed_answer', type: 'text' })
  sealedAnswer: string;

  @Column({ name: 'answer_until', type: 'timestamptz' })
  answerUntil: Instant;
}
