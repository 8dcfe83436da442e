import { Module } from '@nestjs/common';
import { AddressLimits } from './address-limits.service.js';
import { CountingPlaces } from './requests/epochs/counting-places.service.js';
import { EpochAgreement } from './requests/epochs/epoch-agreement.service.js';
import { LimitEpochsRepository } from './requests/epochs/limit-epochs.repository.js';
import { LimitEpochs } from './requests/epochs/limit-epochs.service.js';
import { RequestLimits } from './requests/request-limits.service.js';
import { KeptCountsRepository } from './requests/stored/kept-counts.repository.js';
import { UnsentRequestsRepository } from './requests/stored/unsent-requests.repository.js';
import { UnsentRequests } from './requests/stored/unsent-requests.service.js';

/**
 * How often one address may call our own public routes, and how many requests applications and their users may make.
 * Knows names and numbers; what is recorded of requests reaches it through the port `RecordedRequests`.
 *
 * Tables: limit_epoch, limit_counts, limit_unsent. Routes: none; those that are limited by address carry
 * `@AddressLimited()`. Codes: rate_limited, app_rate_limited, service_unavailable. Log lines: limits_degraded,
 * limits_restored, limits_recounted, limits_agreement_failed.
 */
@Module({
  providers: [
    AddressLimits,
    CountingPlaces,
    EpochAgreement,
    KeptCountsRepository,
    LimitEpochs,
    LimitEpochsRepository,
    RequestLimits,
    UnsentRequests,
    UnsentRequestsRepository,
  ],
  exports: [AddressLimits, RequestLimits],
})
export class LimitsModule {}
