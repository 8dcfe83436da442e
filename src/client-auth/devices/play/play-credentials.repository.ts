import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AppRef } from '../../../app-directory/app.entity.js';
import type { SecretRows } from '../../../platform/vault/resealing.js';
import { secretRows } from '../../../platform/vault/secret-rows.js';
import { PlayCredentialEntity, type PlayCredentialRow } from './play-credential.entity.js';
import { type CredentialKind, playCredentialContext } from './play-credentials.rules.js';

/** The sealed credentials of applications. */
export function playSecrets(connection: EntityManager): SecretRows {
  return secretRows<Pick<PlayCredentialRow, 'organizationId' | 'id' | 'appId' | 'kind'> & { readonly blob: string }>(
    connection,
    {
      ...{ table: 'play_credentials', column: 'secret_blob', others: ', app_id AS "appId", kind' },
      contextOf: playCredentialContext,
    },
  );
}

/** The table play_credentials. */
@Injectable()
export class PlayCredentialsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** All credentials of an application, by kind. */
  list({ organizationId, id }: AppRef): Promise<PlayCredentialRow[]> {
    const where = { organizationId, appId: id };
    return this.dataSource.manager.find(PlayCredentialEntity, { where, order: { kind: 'DESC' } });
  }

  /** The sealed credentials of one kind; `undefined` without. */
  async findBlob({ organizationId, id }: AppRef, kind: CredentialKind): Promise<string | undefined> {
    const where = { organizationId, appId: id, kind };
    return (await this.dataSource.manager.findOneBy(PlayCredentialEntity, where))?.secretBlob;
  }

  /** Replaces those of the same kind. A missing application violates `play_credentials_app_fkey`. */
  async put(tx: EntityManager, row: PlayCredentialRow): Promise<void> {
    const { kind, secretBlob, hint, updatedAt } = row;
    await tx.query(
      `INSERT INTO play_credentials (id, organization_id, app_id, kind, secret_blob, hint, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (app_id, kind) DO UPDATE
         SET secret_blob = excluded.secret_blob, hint = excluded.hint, updated_at = excluded.updated_at`,
      [row.id, row.organizationId, row.appId, kind, secretBlob, hint, updatedAt],
    );
  }

  /** Deletes all credentials of an application. @returns whether there were any. */
  async delete(tx: EntityManager, { organizationId, id }: AppRef): Promise<boolean> {
    const { affected } = await tx.delete(PlayCredentialEntity, { organizationId, appId: id });
    return (affected ?? 0) > 0;
  }
}
