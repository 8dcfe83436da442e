import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Admin, AdminAccess } from '../../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { BillingPlansResponse, BillingStatusResponse } from './dto/billing.response.js';
import { Entitlements } from './entitlements.js';

const TAG = 'Admin billing';

/** Read-only routes for admin sessions. Not in the published OpenAPI document. */
@ApiExcludeController()
@Controller('v1/admin/billing')
export class BillingController {
  constructor(private readonly entitlements: Entitlements) {}

  @Get('plans')
  @AdminAccess('read', { credential: 'session' })
  @Operation({ id: 'listBillingPlans', tag: TAG, summary: 'List the plans' })
  @Fails('billing_unavailable')
  plans(): BillingPlansResponse {
    return BillingPlansResponse.from(this.entitlements.listPlans());
  }

  @Get('status')
  @AdminAccess('read', { credential: 'session' })
  @Operation({ id: 'getBillingStatus', tag: TAG, summary: 'Read the limits and usage of the account’s plan' })
  async status(@Admin() { organizationId }: AdminPrincipal): Promise<BillingStatusResponse> {
    return BillingStatusResponse.from(organizationId, await this.entitlements.standingOf(organizationId));
  }
}
