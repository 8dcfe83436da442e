import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../common/clock.js';
import type { CreatedIds, IdempotencyRecord, RecordClaim } from './creation.js';
import { IdempotencyRecordEntity } from './idempotency-record.entity.js';

/** The stored response and its expiry. */
export interface StoredAnswer extends Pick<IdempotencyRecord, 'answer' | 'sealedAnswer' | 'sealedUntil' | 'ids'> {
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

/** A record and the status of the created key. */
export interface StoredRecord extends IdempotencyRecord {
  /** Whether the account has the key and it is not revoked; false when no key was created. */
  readonly isKeyActive: boolean;
}

type RecordRow = Omit<StoredRecord, 'ids'> & Readonly<Record<keyof CreatedIds, string | null>>;

/** The table creation_receipts. */
@Injectable()
export class IdempotencyRecordsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async find({ organizationId, id }: Pick<RecordClaim, 'organizationId' | 'id'>): Promise<StoredRecord | undefined> {
    const [row] = await this.dataSource.query<RecordRow[]>(
      `SELECT proof_hash AS "proofHash", request_hash AS "requestHash", answer, sealed_answer AS "sealedAnswer",
              sealed_until AS "sealedUntil", app_id AS "appId", key_id AS "keyId", provider_id AS "providerId",
              provider_gateway_id AS "providerGatewayId",
              EXISTS (SELECT FROM app_keys key WHERE key.organization_id = record.organization_id
                AND key.id = record.key_id AND key.status = 'active') AS "isKeyActive"
         FROM creation_receipts record WHERE organization_id = $1 AND id = $2`,
      [organizationId, id],
    );
    return row && toRecord(row);
  }

  /** Stores a record. A committed record with the same id violates `creation_receipts_pkey`. */
  async insert(tx: EntityManager, claim: RecordClaim, kept: StoredAnswer): Promise<void> {
    const { proof: _, ...identified } = claim;
    const { ids, ...stored } = kept;
    await tx.insert(IdempotencyRecordEntity, { ...identified, ...ids, ...stored });
  }
}

function toRecord({ appId, keyId, providerId, providerGatewayId, ...kept }: RecordRow): StoredRecord {
  const ids: CreatedIds = {
    ...(appId === null ? {} : { appId }),
    ...(keyId === null ? {} : { keyId }),
    ...(providerId === null ? {} : { providerId }),
    ...(providerGatewayId === null ? {} : { providerGatewayId }),
  };
  return { ...kept, ids };
}
