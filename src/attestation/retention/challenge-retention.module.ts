import { Module } from '@nestjs/common';
import { ChallengesRepository } from '../challenges.repository.js';
import { ChallengeRetention } from './challenge-retention.service.js';

/** Old rows of `auth_challenges`, apart from those who issue and take them, so that maintenance needs no service. */
@Module({ providers: [ChallengeRetention, ChallengesRepository], exports: [ChallengeRetention] })
export class ChallengeRetentionModule {}
