import { Module } from '@nestjs/common';
import { UsageModule } from '../../usage/recording/usage.module.js';
import { CounterBackends } from './backends/counter-backends.service.js';
import { EpochAgreement } from './epochs/epoch-agreement.service.js';
import { LimitEpochsRepository } from './epochs/limit-epochs.repository.js';
import { LimitEpochs } from './epochs/limit-epochs.service.js';
import { RequestLimits } from './request-limits.service.js';
import { StoredCountsRepository } from './stored/stored-counts.repository.js';
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
    CounterBackends,
    EpochAgreement,
    LimitEpochs,
    LimitEpochsRepository,
    RequestLimits,
    StoredCountsRepository,
    UnsentRequests,
  ],
  exports: [RequestLimits],
})
export class RequestLimitsModule {}
