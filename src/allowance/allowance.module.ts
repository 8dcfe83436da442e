import { Module } from '@nestjs/common';
import { Allowance, UnlimitedAllowance } from './allowance.js';

/**
 * What accounts may use of this service: everything, unless `PLANS_FILE` says otherwise.
 *
 * Tables: none. Codes: billing_payment_required, billing_request_quota_exceeded, billing_unavailable,
 * billing_plan_limit_reached.
 */
@Module({ providers: [{ provide: Allowance, useClass: UnlimitedAllowance }], exports: [Allowance] })
export class AllowanceModule {}
