import { Controller, Get, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import type { Caller } from '../../client-auth/callers/caller.js';
import { CallerAccess, ProvenCaller } from '../../client-auth/callers/caller-access.decorator.js';
import { VaryingAnswersGuard } from '../../client-auth/origins/varying-answers.guard.js';
import { Operation } from '../../common/http/openapi.decorators.js';
import { ModelLists } from './model-lists.service.js';
import { ModelsResponse } from './models.response.js';

@Controller('v1/apps')
@UseGuards(VaryingAnswersGuard)
export class ModelsController {
  constructor(private readonly lists: ModelLists) {}

  @Get(':app/models')
  @CallerAccess({ appVersion: 'optional' })
  @Operation({
    id: 'listUsableModels',
    tag: 'Application',
    summary: 'List the models that the caller may use',
    description:
      'Of all active providers that the application allows: priced models of the catalog and of custom prices, and the names of `model_rewrites`. Counts against no limit and calls no provider.',
  })
  @ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
  @ApiOkResponse({ type: ModelsResponse })
  list(@ProvenCaller() caller: Caller): Promise<ModelsResponse> {
    return this.lists.ofCatalog(caller).then(ModelsResponse.from);
  }
}
