import { Module } from '@nestjs/common';
import { ReceiptsRepository } from './receipts.repository.js';
import { Receipts } from './receipts.service.js';

/**
 * Creations that may be sent again without creating twice: what was answered is kept with what was created, in one
 * transaction.
 *
 * Tables: creation_receipts; reads app_keys. Codes: forbidden, conflict, resource_receipt_expired, resource_key_unavailable.
 */
@Module({ providers: [Receipts, ReceiptsRepository], exports: [Receipts] })
export class IdempotencyModule {}
