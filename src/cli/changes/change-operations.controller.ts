import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Admin, AdminAccess } from '../../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { ChangeOperationResponse, RevealedOperationResponse } from '../dto/change-operation.response.js';
import { ChangeOperations } from './change-operations.service.js';

const TAG = 'Admin change operations';

@Controller('v1/admin/operations')
@ApiParam({ name: 'id', description: 'Id of the operation.', schema: { type: 'string' } })
export class ChangeOperationsController {
  constructor(private readonly changes: ChangeOperations) {}

  @Get(':id')
  @AdminAccess('read')
  @Operation({
    id: 'getOperation',
    tag: TAG,
    summary: 'Read the state of an operation',
    description: 'A change requested by a terminal or an AI client. Never returns a key.',
  })
  @Fails('operation_not_found', 'invalid_request')
  @ApiOkResponse({ type: ChangeOperationResponse })
  async get(@Admin() admin: AdminPrincipal, @Param('id') id: string): Promise<ChangeOperationResponse> {
    return ChangeOperationResponse.from(await this.changes.read(admin, id));
  }

  @Post(':id/reveal')
  @AdminAccess('write', { credential: 'session', firstParty: true, exactOrigin: true })
  @HttpCode(200)
  @Operation({
    id: 'revealOperation',
    tag: TAG,
    summary: 'Reveal the key that an operation issued',
    description: 'Once, within 15 minutes of the change; only for operations of AI clients.',
  })
  @Fails('operation_not_found', 'invalid_request', 'operation_pending', 'operation_denied')
  @Fails('already_revealed', 'operation_expired')
  @ApiOkResponse({ type: RevealedOperationResponse })
  async reveal(@Admin() admin: AdminPrincipal, @Param('id') id: string): Promise<RevealedOperationResponse> {
    return RevealedOperationResponse.from(await this.changes.reveal(admin, id));
  }
}
