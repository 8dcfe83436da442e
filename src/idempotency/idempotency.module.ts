import { Module } from '@nestjs/common';
import { IdempotencyRecordsRepository } from './idempotency-records.repository.js';
import { IdempotencyRecords } from './idempotency-records.service.js';

/**
 * Idempotent creations: the response is stored as a record in the transaction of the creation, and replayed on
 * retries.
 *
 * Tables: creation_receipts; reads app_keys. Codes: forbidden, conflict, resource_receipt_expired,
 * resource_key_unavailable.
 */
@Module({ providers: [IdempotencyRecords, IdempotencyRecordsRepository], exports: [IdempotencyRecords] })
export class IdempotencyModule {}
