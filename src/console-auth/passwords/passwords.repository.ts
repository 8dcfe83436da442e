import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';

/** Whose password it is, and its hash in the PHC format. */
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

  /** Whether this is still the password. If so it stays it until the transaction ends: who changes it waits. */
  async holds(tx: EntityManager, { identityId, passwordHash }: StoredPassword): Promise<boolean> {
    const rows = await tx.query<unknown[]>(
      'SELECT FROM passwords WHERE identity_id = $1 AND password_hash = $2 FOR SHARE',
      [identityId, passwordHash],
    );
    return rows.length > 0;
  }

  /** Stores another password in place of this one. @returns whether it still was the password. */
  async replace(tx: EntityManager, stored: StoredPassword, newHash: string, at: Instant): Promise<boolean> {
    const [, count]: [unknown[], number] = await tx.query(
      'UPDATE passwords SET password_hash = $3, changed_at = $4 WHERE identity_id = $1 AND password_hash = $2',
      [stored.identityId, stored.passwordHash, newHash, at],
    );
    return count > 0;
  }
}
