import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../common/clock.js';
import type { CreatedIds, Receipt, ReceiptClaim } from './creation.js';
import { CreationReceiptEntity } from './creation-receipt.entity.js';

/** The stored response and its expiry. */
export interface KeptAnswer extends Pick<Receipt, 'answer' | 'sealedAnswer' | 'sealedUntil' | 'ids'> {
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

/** A receipt and the status of the created key. */
export interface StoredReceipt extends Receipt {
  /** Whether the account has the key and it is not revoked; false when no key was created. */
  readonly isKeyActive: boolean;
}

type ReceiptRow = Omit<StoredReceipt, 'ids'> & Readonly<Record<keyof CreatedIds, string | null>>;

/** The table creation_receipts. */
@Injectable()
export class ReceiptsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async find({ organizationId, id }: Pick<ReceiptClaim, 'organizationId' | 'id'>): Promise<StoredReceipt | undefined> {
    const [row] = await this.dataSource.query<ReceiptRow[]>(
      `SELECT proof_hash AS "proofHash", request_hash AS "requestHash", answer, sealed_answer AS "sealedAnswer",
              sealed_until AS "sealedUntil", app_id AS "appId", key_id AS "keyId", provider_id AS "providerId",
              provider_gateway_id AS "providerGatewayId",
              EXISTS (SELECT FROM app_keys key WHERE key.organization_id = receipt.organization_id
                AND key.id = receipt.key_id AND key.status = 'active') AS "isKeyActive"
         FROM creation_receipts receipt WHERE organization_id = $1 AND id = $2`,
      [organizationId, id],
    );
    return row && toReceipt(row);
  }

  /** Stores a receipt. A committed receipt with the same id violates `creation_receipts_pkey`. */
  async insert(tx: EntityManager, claim: ReceiptClaim, kept: KeptAnswer): Promise<void> {
    const { proof: _, ...identified } = claim;
    const { ids, ...stored } = kept;
    await tx.insert(CreationReceiptEntity, { ...identified, ...ids, ...stored });
  }
}

function toReceipt({ appId, keyId, providerId, providerGatewayId, ...kept }: ReceiptRow): StoredReceipt {
  const ids: CreatedIds = {
    ...(appId === null ? {} : { appId }),
    ...(keyId === null ? {} : { keyId }),
    ...(providerId === null ? {} : { providerId }),
    ...(providerGatewayId === null ? {} : { providerGatewayId }),
  };
  return { ...kept, ids };
}
