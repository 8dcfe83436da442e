import { Module } from '@nestjs/common';
import { UsageRetentionRepository } from './usage-retention.repository.js';
import { UsageRetention } from './usage-retention.service.js';

/** Old usage, apart from those who record and read it, so that maintenance needs no journal. */
@Module({ providers: [UsageRetention, UsageRetentionRepository], exports: [UsageRetention] })
export class UsageRetentionModule {}
