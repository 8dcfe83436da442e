import { Module } from '@nestjs/common';
import { InvitationRetentionRepository } from './invitation-retention.repository.js';
import { InvitationRetention } from './invitation-retention.service.js';

/** Old rows of `invitations`, apart from those who write and read them, so that maintenance needs no service. */
@Module({ providers: [InvitationRetention, InvitationRetentionRepository], exports: [InvitationRetention] })
export class InvitationRetentionModule {}
