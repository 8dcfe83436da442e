import { Module } from '@nestjs/common';
import { AuthEventRetentionRepository } from './auth-event-retention.repository.js';
import { AuthEventRetention } from './auth-event-retention.service.js';

/** Old rows of `auth_events`, apart from those who write and read them, so that maintenance needs no service. */
@Module({ providers: [AuthEventRetention, AuthEventRetentionRepository], exports: [AuthEventRetention] })
export class AuthEventRetentionModule {}
