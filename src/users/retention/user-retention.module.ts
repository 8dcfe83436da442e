import { Module } from '@nestjs/common';
import { UserRetentionRepository } from './user-retention.repository.js';
import { UserRetention } from './user-retention.service.js';

/** Users without a trace, apart from those who see and list users, so that maintenance needs no service. */
@Module({ providers: [UserRetention, UserRetentionRepository], exports: [UserRetention] })
export class UserRetentionModule {}
