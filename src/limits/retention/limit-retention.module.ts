import { Module } from '@nestjs/common';
import { LimitRetentionRepository } from './limit-retention.repository.js';
import { LimitRetention } from './limit-retention.service.js';

/** Old counts of requests, apart from those who count, so that maintenance needs no Redis. */
@Module({ providers: [LimitRetention, LimitRetentionRepository], exports: [LimitRetention] })
export class LimitRetentionModule {}
