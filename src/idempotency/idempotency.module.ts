import { Module } from '@nestjs/common';
import { ReceiptsRepository } from './receipts.repository.js';
import { Receipts } from './receipts.service.js';

/**
 * Idempotent creations: the response is stored as a receipt in the transaction of the creation, and replayed on
 * retries.
 *
 * Tables: creation_receipts; reads app_keys. Codes: forbidden, conflict, resource_receipt_expired,
 * resource_key_unavailable.
 */
@Module({ providers: [Receipts, ReceiptsRepository], exports: [Receipts] })
export class IdempotencyModule {}
