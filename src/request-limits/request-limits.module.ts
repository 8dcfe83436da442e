import { Module } from '@nestjs/common';
import { UsageModule } from '../usage/usage.module.js';
import { CountingPlaces } from './epochs/counting-places.service.js';
import { EpochAgreement } from './epochs/epoch-agreement.service.js';
import { LimitEpochsRepository } from './epochs/limit-epochs.repository.js';
import { LimitEpochs } from './epochs/limit-epochs.service.js';
import { RequestLimits } from './request-limits.service.js';
import { KeptCountsRepository } from './stored/kept-counts.repository.js';
import { UnsentRequestsRepository } from './stored/unsent-requests.repository.js';
import { UnsentRequests } from './stored/unsent-requests.service.js';

/**
 * Request limits of applications and of their users.
 *
 * Tables: limit_epoch, limit_counts, limit_unsent.
 * Routes: none.
 * Codes: app_rate_limited, service_unavailable.
 * Log lines: limits_degraded, limits_restored, limits_recounted, limits_agreement_failed.
 */
@Module({
  imports: [UsageModule],
  providers: [
    CountingPlaces,
    EpochAgreement,
    KeptCountsRepository,
    LimitEpochs,
    LimitEpochsRepository,
    RequestLimits,
    UnsentRequests,
    UnsentRequestsRepository,
  ],
  exports: [RequestLimits],
})
export class RequestLimitsModule {}
