import { Body, Controller, HttpCode, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsoleStepAccess } from '../../accounts/access/admin-access.decorator.js';
import { sessionRequired } from '../../accounts/access/admin-access.rules.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { Secret } from '../../common/log/secret.js';
import { BrowserClients } from '../../sign-in/browser-sessions.service.js';
import { People } from '../../sign-in/people/people.service.js';
import { Google } from '../../sign-in/third-party/google.js';
import { AllowConsentRequest, ConsentRequest } from '../dto/consent.request.js';
import { ConsentDetailsResponse, ConsentRedirectResponse } from '../dto/consent.response.js';
import { OAuthEnabledGuard } from '../server/oauth.guard.js';
import { Consents } from './consents.service.js';

const TAG = 'Console OAuth consent';
const AuthorizationId = () =>
  ApiParam({
    name: 'id',
    description: 'Id of the authorization, from the address of the consent page.',
    schema: { type: 'string' },
  });

@Controller('v1/console/oauth')
@UseGuards(OAuthEnabledGuard)
export class ConsentController {
  constructor(
    private readonly consents: Consents,
    private readonly google: Google,
    private readonly people: People,
    private readonly browsers: BrowserClients,
  ) {}

  @Post(':id/details')
  @ConsoleStepAccess()
  @HttpCode(200)
  @Operation({
    id: 'getOauthConsentDetails',
    tag: TAG,
    summary: 'Read which client requests access',
    description: 'Changes nothing.',
  })
  @AuthorizationId()
  @Fails('rate_limited', 'service_unavailable')
  @ApiOkResponse({ type: ConsentDetailsResponse })
  async details(
    @Param('id') id: string,
    @Body() { submissionToken }: ConsentRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConsentDetailsResponse> {
    const browser = await this.browsers.of(request, reply);
    const details = await this.consents.details(id, new Secret(submissionToken), browser);
    return ConsentDetailsResponse.from(details, this.google.isEnabled, await this.people.isSignUpOpen());
  }

  @Post(':id/allow')
  @ConsoleStepAccess()
  @HttpCode(200)
  @Operation({
    id: 'allowOauthConsent',
    tag: TAG,
    summary: 'Give the client access to one of your accounts',
    description: 'For signed-in people of any role. Idempotent; the first decision is final.',
  })
  @AuthorizationId()
  @Fails('session_required@401', 'session_required', 'not_a_member', 'account_expired', 'rate_limited')
  @Fails('operation_denied', 'operation_expired', 'conflict', 'service_unavailable')
  @ApiOkResponse({ type: ConsentRedirectResponse })
  async allow(
    @Param('id') id: string,
    @Body() { submissionToken, organizationId, grant }: AllowConsentRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConsentRedirectResponse> {
    if (request.headers.authorization !== undefined) throw sessionRequired();
    const browser = await this.browsers.of(request, reply);
    const allowance = { organizationId, grant };
    return ConsentRedirectResponse.to(await this.consents.allow(id, new Secret(submissionToken), allowance, browser));
  }

  @Post(':id/guest')
  @ConsoleStepAccess()
  @HttpCode(200)
  @Operation({
    id: 'continueOauthWithoutAccount',
    tag: TAG,
    summary: 'Give the client access without a person',
    description:
      'Only while the deployment is empty: opens its first account, owned by the connection until a person claims it, with the grant `manage`. Idempotent.',
  })
  @AuthorizationId()
  @Fails('conflict', 'rate_limited', 'operation_denied', 'operation_expired', 'service_unavailable')
  @ApiOkResponse({ type: ConsentRedirectResponse })
  async guest(
    @Param('id') id: string,
    @Body() { submissionToken }: ConsentRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConsentRedirectResponse> {
    const browser = await this.browsers.of(request, reply);
    return ConsentRedirectResponse.to(await this.consents.guest(id, new Secret(submissionToken), browser));
  }

  @Post(':id/deny')
  @ConsoleStepAccess()
  @HttpCode(200)
  @Operation({
    id: 'denyOauthConsent',
    tag: TAG,
    summary: 'Decline the client',
    description: 'Requires the link, not a session. Idempotent.',
  })
  @AuthorizationId()
  @Fails('already_completed', 'operation_expired', 'rate_limited', 'service_unavailable')
  @ApiOkResponse({ type: ConsentRedirectResponse })
  async deny(
    @Param('id') id: string,
    @Body() { submissionToken }: ConsentRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConsentRedirectResponse> {
    const browser = await this.browsers.of(request, reply);
    return ConsentRedirectResponse.to(await this.consents.deny(id, new Secret(submissionToken), browser));
  }
}
