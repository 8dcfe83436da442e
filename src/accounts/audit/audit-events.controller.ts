import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { Admin, AdminAccess } from '../access/admin-access.decorator.js';
import type { AdminPrincipal } from '../access/admin-principal.js';
import { AuditTrail } from './audit-trail.js';
import { AuditEventsResponse, AuditFacetsResponse } from './dto/audit-events.response.js';
import { ListAuditEventsRequest } from './dto/list-audit-events.request.js';

@Controller('v1/admin/audit-events')
export class AuditEventsController {
  constructor(private readonly trail: AuditTrail) {}

  @Get()
  @AdminAccess('read')
  @Operation({
    id: 'listAuditEvents',
    tag: 'Admin organizations',
    summary: 'Who changed what in the account',
    description: 'Newest first, of the last 90 days. Pass `next_before_id` as `before_id` to get the next page.',
  })
  @Fails('invalid_request')
  @ApiOkResponse({ type: AuditEventsResponse })
  async list(@Admin() admin: AdminPrincipal, @Query() query: ListAuditEventsRequest): Promise<AuditEventsResponse> {
    return AuditEventsResponse.from(await this.trail.page(admin, query.toFilter(), query.toDayRange()));
  }

  @Get('facets')
  @AdminAccess('read')
  @Operation({
    id: 'listAuditFacets',
    tag: 'Admin organizations',
    summary: 'The actions and persons of the audit trail',
    description: 'Each once, of the last 90 days: the values that `action` and `actor_id` of the list can have.',
  })
  @ApiOkResponse({ type: AuditFacetsResponse })
  async facets(@Admin() admin: AdminPrincipal): Promise<AuditFacetsResponse> {
    return AuditFacetsResponse.from(await this.trail.facets(admin));
  }
}
