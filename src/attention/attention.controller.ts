import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Admin, AdminAccess } from '../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { Operation } from '../common/http/openapi.decorators.js';
import { Attention } from './attention.service.js';
import { AttentionResponse } from './dto/attention.response.js';

@Controller('v1/admin/attention')
export class AttentionController {
  constructor(private readonly attention: Attention) {}

  @Get()
  @AdminAccess('read')
  @Operation({
    id: 'listAttention',
    tag: 'Admin operations',
    summary: 'What needs attention in the account',
    description: 'The current state: an item disappears once it is fixed.',
  })
  @ApiOkResponse({ type: AttentionResponse })
  async list(@Admin() admin: AdminPrincipal): Promise<AttentionResponse> {
    return AttentionResponse.from(await this.attention.of(admin.organizationId));
  }
}
