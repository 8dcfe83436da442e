import { Controller, Get, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { VaryingAnswersGuard } from '../origins/varying-answers.guard.js';
import type { Caller } from './caller.js';
import { CallerAccess, ProvenCaller } from './caller-access.decorator.js';
import { CurrentUserResponse } from './dto/current-user.response.js';
import { MeService } from './me.service.js';

@Controller('v1/apps')
@UseGuards(VaryingAnswersGuard)
export class MeController {
  constructor(private readonly me: MeService) {}

  @Get(':app/me')
  @CallerAccess({ appVersion: 'optional' })
  @Operation({
    id: 'getCurrentUser',
    tag: 'Application',
    summary: 'Read the limits and usage of the calling user',
    description: 'The user’s own limits and what is left of them. Counts against no limit.',
  })
  @ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
  @Fails('auth_method_not_supported@404')
  @ApiOkResponse({ type: CurrentUserResponse })
  get(@ProvenCaller() caller: Caller): Promise<CurrentUserResponse> {
    return this.me.of(caller).then(CurrentUserResponse.from);
  }
}
