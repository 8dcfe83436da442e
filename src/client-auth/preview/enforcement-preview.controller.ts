import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { AdminAppAccess, OwnApp } from '../../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../../app-directory/app.entity.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { EnforcementPreviewRequest } from './dto/enforcement-preview.request.js';
import { EnforcementPreviewResponse } from './dto/enforcement-preview.response.js';
import { EnforcementPreviews } from './enforcement-preview.service.js';

const TAG = 'Admin operations';

@Controller('v1/admin')
@ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
export class EnforcementPreviewController {
  constructor(private readonly previews: EnforcementPreviews) {}

  @Post('apps/:app/enforcement-preview')
  @AdminAppAccess('read')
  @HttpCode(200)
  @Operation({
    id: 'previewAppEnforcement',
    tag: TAG,
    summary: 'Preview whom enforcement of proofs would refuse',
    description:
      'Checks the recorded attempts of devices that were admitted against a configuration of device proofs. Changes nothing.',
  })
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: EnforcementPreviewResponse })
  async preview(@OwnApp() app: AppRow, @Body() body: EnforcementPreviewRequest): Promise<EnforcementPreviewResponse> {
    return EnforcementPreviewResponse.from(await this.previews.of(app, body.authentication, body.chosenDays()));
  }
}
