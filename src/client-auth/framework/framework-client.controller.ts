import { Body, Controller, Header, HttpCode, Param, Post, UseGuards } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { FORM_TYPE, FormOrJson } from '../../common/fields/request-shape.pipe.js';
import { PublicAccess } from '../../common/http/access.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { BodyLimit } from '../../common/http/raw-body.js';
import { AddressLimited } from '../../platform/address-limits/address-limit.guard.js';
import { VaryingAnswersGuard } from '../origins/varying-answers.guard.js';
import {
  FrameworkChallengeRequest,
  FrameworkRegisterRequest,
  FrameworkTokenRequest,
} from './dto/framework-client.request.js';
import { FrameworkChallengeResponse, FrameworkTokenResponse } from './dto/framework-client.response.js';
import { FrameworkClientService } from './framework-client.service.js';

const TAG = 'Application authentication';
const MAX_BODY_BYTES = 256 * 1024;
/** Whatever is not offered here is 404, so that the client asks nowhere again. */
const REFUSALS = [
  'invalid_request',
  'not_found',
  'app_not_found',
  'app_disabled',
  'internal_error',
  'service_unavailable',
] as const;

@Controller('v1/apps/:app/proxy/:provider/v1/oauth')
@ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
@ApiParam({ name: 'provider', description: 'Slug of a provider of the Messages API.', schema: { type: 'string' } })
export class FrameworkClientController {
  constructor(private readonly client: FrameworkClientService) {}

  @Post('app-attest/challenge')
  @PublicAccess()
  @UseGuards(VaryingAnswersGuard)
  @AddressLimited('app_auth_challenge')
  @BodyLimit(MAX_BODY_BYTES)
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'createFrameworkClientChallenge',
    tag: TAG,
    summary: 'Get a challenge for a key of the framework’s client',
    description: 'Valid five minutes, once, for this application and key. A pending one is issued again.',
  })
  @Fails(...REFUSALS)
  @ApiOkResponse({ type: FrameworkChallengeResponse })
  async challenge(
    @Param('app') appId: string,
    @Param('provider') slug: string,
    @Body() body: FrameworkChallengeRequest,
  ): Promise<FrameworkChallengeResponse> {
    return FrameworkChallengeResponse.from(await this.client.challenge({ appId, slug }, body));
  }

  @Post('app-attest/register')
  @PublicAccess()
  @UseGuards(VaryingAnswersGuard)
  @AddressLimited('app_auth_register')
  @BodyLimit(MAX_BODY_BYTES)
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'registerFrameworkClient',
    tag: TAG,
    summary: 'Register a key of the framework’s client, and get its first token',
    description: 'The device signs the SHA-256 of the 32 bytes of the pending challenge.',
  })
  @Fails(...REFUSALS, 'attest_failed', 'app_version_too_old', 'auth_required')
  @ApiOkResponse({ type: FrameworkTokenResponse })
  async register(
    @Param('app') appId: string,
    @Param('provider') slug: string,
    @Body() body: FrameworkRegisterRequest,
  ): Promise<FrameworkTokenResponse> {
    return FrameworkTokenResponse.from(await this.client.register({ appId, slug }, body));
  }

  @Post('token')
  @PublicAccess()
  @UseGuards(VaryingAnswersGuard)
  @AddressLimited('app_auth_token')
  @BodyLimit(MAX_BODY_BYTES)
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'exchangeFrameworkClientToken',
    tag: TAG,
    summary: 'Exchange an assertion of the framework’s client for a gateway token',
    description:
      'A form, or JSON. The assertion signs SHA-256 of `anthropic-app-attest-token-v1`, the 32 bytes of the pending challenge, the application’s id in UTF-8 and the 32 bytes of the key id, one after the other.',
  })
  @ApiConsumes(FORM_TYPE, 'application/json')
  @ApiBody({ type: FrameworkTokenRequest })
  @Fails(...REFUSALS, 'attest_failed@401', 'app_version_too_old', 'auth_required')
  @ApiOkResponse({ type: FrameworkTokenResponse })
  async token(
    @Param('app') appId: string,
    @Param('provider') slug: string,
    @FormOrJson(FrameworkTokenRequest) body: FrameworkTokenRequest,
  ): Promise<FrameworkTokenResponse> {
    return FrameworkTokenResponse.from(await this.client.token({ appId, slug }, body));
  }
}
