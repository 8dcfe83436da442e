import { Module } from '@nestjs/common';
import { ReceiptRetentionRepository } from './receipt-retention.repository.js';
import { ReceiptRetention } from './receipt-retention.service.js';

/** Old rows of `creation_receipts`, apart from those who write and read them, so that maintenance needs no service. */
@Module({ providers: [ReceiptRetention, ReceiptRetentionRepository], exports: [ReceiptRetention] })
export class ReceiptRetentionModule {}
