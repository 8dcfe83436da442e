import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull, LessThan } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { ManagementKeyEntity } from '../management-keys/management-key.entity.js';
import { type KeyOwner, SELECT_OWNER } from '../management-keys/management-keys.repository.js';
import { OAuthTokenEntity } from './oauth-token.entity.js';

export type OAuthTokenRow = Readonly<OAuthTokenEntity>;

/** An access token as a request presents it. */
export interface PresentedAccess {
  readonly connectionId: string;
  readonly accessHash: string;
  /** Whether tokens for `/mcp` alone count. */
  readonly atMcp: boolean;
}

/** Connections in management_keys, and the table oauth_tokens. */
@Injectable()
export class ConnectionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The owner of an access token that is valid at `at` and ends by `latestEnd`. */
  async findOwner(
    { connectionId, accessHash, atMcp }: PresentedAccess,
    at: Instant,
    latestEnd: Instant,
  ): Promise<KeyOwner | undefined> {
    const [row] = await this.dataSource.query<KeyOwner[]>(
      `${SELECT_OWNER} AND k.id = $1 AND EXISTS (
         SELECT FROM oauth_tokens token
          WHERE token.access_hash = $3 AND token.connection_id = k.id AND (token.audience = 'api' OR $5)
            AND token.access_expires_at > $2 AND token.access_expires_at <= $4)`,
      [connectionId, at, accessHash, latestEnd, atMcp],
    );
    return row;
  }

  /** Locks a connection until the transaction ends. */
  async lock(tx: EntityManager, id: string): Promise<Readonly<ManagementKeyEntity> | undefined> {
    const where = { id, source: 'oauth' as const };
    return (await tx.findOne(ManagementKeyEntity, { where, lock: { mode: 'for_no_key_update' } })) ?? undefined;
  }

  /** Records that a connection got tokens. */
  async renew(
    tx: EntityManager,
    id: string,
    { tokenHint, at, expiresAt }: { readonly tokenHint: string; readonly at: Instant; readonly expiresAt: Instant },
  ): Promise<void> {
    await tx.update(ManagementKeyEntity, { id, revokedAt: IsNull() }, { tokenHint, expiresAt, lastUsedAt: at });
  }

  /** Stores a generation and forgets those before its predecessor. */
  async insertToken(tx: EntityManager, token: OAuthTokenRow): Promise<void> {
    const { connectionId, generation } = token;
    await tx.insert(OAuthTokenEntity, token);
    await tx.delete(OAuthTokenEntity, { connectionId, generation: LessThan(generation - 1) });
  }

  /** The generations of a connection, the newest first: at most two. */
  tokensOf(tx: EntityManager, connectionId: string): Promise<readonly OAuthTokenRow[]> {
    return tx.find(OAuthTokenEntity, { where: { connectionId }, order: { generation: 'DESC' } });
  }

  /** Replaces the response to a repeated refresh of a generation. */
  async setAnswer(
    tx: EntityManager,
    { connectionId, generation }: Pick<OAuthTokenRow, 'connectionId' | 'generation'>,
    answer: Pick<OAuthTokenRow, 'sealedAnswer' | 'answerUntil'>,
  ): Promise<void> {
    await tx.update(OAuthTokenEntity, { connectionId, generation }, answer);
  }
}
