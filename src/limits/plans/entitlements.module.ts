import { Module } from '@nestjs/common';
import { AccessModule } from '../../accounts/access/access.module.js';
import { Clock } from '../../common/clock.js';
import { Log } from '../../common/log/log.js';
import { Environment } from '../../platform/config/environment.js';
import { RecordedAccountRequests } from '../../usage/recording/recorded-requests.service.js';
import { UsageModule } from '../../usage/recording/usage.module.js';
import { AccountRequests } from './account-requests.js';
import { BillingController } from './billing.controller.js';
import { CeilingsRepository } from './ceilings.repository.js';
import { Ceilings } from './ceilings.service.js';
import { Entitlements, UnlimitedEntitlements } from './entitlements.js';
import { PlanEntitlements } from './plan-entitlements.js';
import { PlansFile } from './plans-file.js';

/** Poll interval of the plans file. */
const LOOK_EVERY_MS = 2_000;

/**
 * What accounts may use of this service: everything, unless `PLANS_FILE` is set.
 *
 * Tables: none.
 * Routes: `/v1/admin/billing/*`.
 * Codes: billing_payment_required, billing_request_quota_exceeded, billing_unavailable, billing_plan_limit_reached.
 * Log lines: plans_file_read, plans_file_unreadable.
 */
@Module({
  imports: [AccessModule, UsageModule],
  controllers: [BillingController],
  providers: [
    {
      provide: Entitlements,
      useFactory: entitlementsOf,
      inject: [Environment, RecordedAccountRequests, Clock, Log],
    },
    Ceilings,
    CeilingsRepository,
  ],
  exports: [Entitlements, Ceilings],
})
export class EntitlementsModule {}

async function entitlementsOf(
  { PLANS_FILE: path }: Environment,
  recorded: RecordedAccountRequests,
  clock: Clock,
  log: Log,
): Promise<Entitlements> {
  if (path === undefined) return new UnlimitedEntitlements();
  const file = await PlansFile.open({ path, log, everyMs: LOOK_EVERY_MS });
  return new PlanEntitlements(file, new AccountRequests(recorded, clock), clock);
}
