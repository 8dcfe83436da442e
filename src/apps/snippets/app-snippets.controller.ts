import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ConsoleOrigin } from '../../accounts/csrf/csrf-origins.js';
import { AdminAppAccess, OwnApp } from '../../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../../app-directory/app.entity.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { AppSnippetRequest } from '../dto/app-snippet.request.js';
import { AppSnippetResponse } from '../dto/app-snippet.response.js';
import { AppSnippets } from './app-snippets.service.js';

@Controller('v1/admin')
export class AppSnippetsController {
  constructor(
    private readonly snippets: AppSnippets,
    private readonly origin: ConsoleOrigin,
  ) {}

  @Get('apps/:app/snippet')
  @AdminAppAccess('read')
  @Operation({
    id: 'getAppSnippet',
    tag: 'Admin applications',
    summary: 'Read an example call of an application',
    description: 'Source code that calls a provider or a named endpoint as the application does.',
  })
  @ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
  @Fails('invalid_request', 'unsupported_snippet', 'app_not_found', 'endpoint_not_found', 'provider_not_found')
  @ApiOkResponse({ type: AppSnippetResponse })
  async get(
    @OwnApp() app: AppRow,
    @Query() query: AppSnippetRequest,
    @Req() request?: FastifyRequest,
  ): Promise<AppSnippetResponse> {
    // An AI client’s request does not say under which address the people of the account see the service.
    const origin = request && this.origin.urlFor(request.headers.host, request.socket.localPort);
    return AppSnippetResponse.from(await this.snippets.snippetOf(app, query, origin));
  }
}
