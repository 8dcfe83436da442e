import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { AppDirectoryModule } from '../app-directory/app-directory.module.js';
import { BudgetsModule } from '../budgets/budgets.module.js';
import { PricingModule } from '../pricing/pricing.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { EventCostsRepository } from './event-costs.repository.js';
import { RepricingController } from './repricing.controller.js';
import { SettleEstimatesRepository } from './settle-estimates.repository.js';
import { SettleEstimates } from './settle-estimates.service.js';
import { UsageRepriceRepository } from './usage-reprice.repository.js';
import { UsageRepriceService } from './usage-reprice.service.js';

/**
 * Rewrites costs of recorded events, and all sums of them: repricing at current prices, and settling of estimates.
 *
 * Tables: those of `usage`.
 * Routes: `/v1/admin/apps/{app}/usage/reprice`, `/v1/admin/apps/{app}/usage/settle-estimates`.
 */
@Module({
  imports: [AppDirectoryModule, BudgetsModule, AccessModule, PricingModule, ProvidersModule],
  controllers: [RepricingController],
  providers: [
    EventCostsRepository,
    SettleEstimates,
    SettleEstimatesRepository,
    UsageRepriceRepository,
    UsageRepriceService,
  ],
})
export class RepricingModule {}
