import { Module } from '@nestjs/common';
import { IdentityRetentionRepository } from './identity-retention.repository.js';
import { IdentityRetention } from './identity-retention.service.js';

/**
 * Old rows of `audit_events`, `sessions` and `management_keys`, apart from those who write and read them, so that maintenance
 * needs no service.
 */
@Module({ providers: [IdentityRetention, IdentityRetentionRepository], exports: [IdentityRetention] })
export class IdentityRetentionModule {}
