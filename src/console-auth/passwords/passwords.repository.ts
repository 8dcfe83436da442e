import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';

/** A password hash (PHC format) and its owner. */
export interface StoredPassword {
  readonly identityId: string;
  readonly passwordHash: string;
}

/** The table passwords. */
@Injectable()
export class PasswordsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param email as `comparableEmail` writes it. */
  async findByEmail(email: string): Promise<StoredPassword | undefined> {
    const [row] = await this.dataSource.query<StoredPassword[]>(
      `SELECT p.identity_id AS "identityId", p.password_hash AS "passwordHash"
         FROM identities i JOIN passwords p ON p.identity_id = i.id
        WHERE lower(i.email) = lower($1)`,
      [email],
    );
    return row;
  }

  async insert(tx: EntityManager, { identityId, passwordHash }: StoredPassword, at: Instant): Promise<void> {
    await tx.query('INSERT INTO passwords (identity_id, password_hash, changed_at) VALUES ($1, $2, $3)', [
      identityId,
      passwordHash,
      at,
    ]);
  }

  /** Whether the hash is still stored. If so, the row stays locked against changes until the transaction ends. */
  async holds(tx: EntityManager, { identityId, passwordHash }: StoredPassword): Promise<boolean> {
    const rows = await tx.query<unknown[]>(
      'SELECT FROM passwords WHERE identity_id = $1 AND password_hash = $2 FOR SHARE',
      [identityId, passwordHash],
    );
    return rows.length > 0;
  }

  /** Replaces the hash if it is still stored. @returns whether it was. */
  async replace(tx: EntityManager, stored: StoredPassword, newHash: string, at: Instant): Promise<boolean> {
    const [, count]: [unknown[], number] = await tx.query(
      'UPDATE passwords SET password_hash = $3, changed_at = $4 WHERE identity_id = $1 AND password_hash = $2',
      [stored.identityId, stored.passwordHash, newHash, at],
    );
    return count > 0;
  }
}
