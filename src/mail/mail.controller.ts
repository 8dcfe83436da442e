import { Body, Controller, Get, Put } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Admin, AdminAccess } from '../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { UpdateMailRequest } from './dto/mail.request.js';
import { MailResponse } from './dto/mail.response.js';
import { MailSubscriptions } from './mail-subscriptions.service.js';

const TAG = 'Admin organizations';

@Controller('v1/admin/mail')
export class MailController {
  constructor(private readonly subscriptions: MailSubscriptions) {}

  @Get()
  @AdminAccess('read', { credential: 'session' })
  @Operation({ id: 'getMail', tag: TAG, summary: 'Read which events of the account are mailed to you' })
  @ApiOkResponse({ type: MailResponse })
  async get(@Admin() admin: AdminPrincipal): Promise<MailResponse> {
    return MailResponse.from(await this.subscriptions.get(admin));
  }

  @Put()
  @AdminAccess('read', { credential: 'session' })
  @Operation({
    id: 'updateMail',
    tag: TAG,
    summary: 'Choose which events of the account are mailed to you',
    description: 'Each member chooses for themselves. The types are those of webhooks.',
  })
  @Fails('invalid_request', 'conflict')
  @ApiOkResponse({ type: MailResponse })
  async set(@Admin() admin: AdminPrincipal, @Body() { events }: UpdateMailRequest): Promise<MailResponse> {
    return MailResponse.from(await this.subscriptions.set(admin, events));
  }
}
