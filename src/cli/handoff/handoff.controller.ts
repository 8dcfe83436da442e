import { applyDecorators, Body, Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsolePageAccess, ConsoleStepAccess } from '../../accounts/access/admin-access.decorator.js';
import { setsCookie } from '../../common/http/answer-headers.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { Secret } from '../../common/log/secret.js';
import { AddressLimited } from '../../platform/address-limits/address-limit.guard.js';
import { addressOf } from '../../platform/address-limits/client-address.rules.js';
import { Environment } from '../../platform/config/environment.js';
import { BrowserClients } from '../../sign-in/browser-sessions.service.js';
import { SessionBegunResponse, SocialSignInResponse } from '../../sign-in/dto/console-auth.response.js';
import { PageSignIn } from '../../sign-in/page-sign-in.service.js';
import { Google } from '../../sign-in/third-party/google.js';
import {
  RegisterForHandoffRequest,
  SubmissionRequest,
  SubmitHandoffRequest,
  UserCodeRequest,
} from '../dto/cli.request.js';
import {
  DeniedHandoffResponse,
  HandoffDetailsResponse,
  LookupResponse,
  SubmittedHandoffResponse,
} from '../dto/handoff.response.js';
import { UserCodes } from '../logins/user-codes.service.js';
import { Handoffs } from './handoff.service.js';

const TAG = 'CLI';
/** The operation, and the responses of all its steps. */
const OfOperation = () =>
  applyDecorators(
    ApiParam({
      name: 'id',
      description: 'Id of the operation, from the link or from `lookup`.',
      schema: { type: 'string' },
    }),
    Fails('rate_limited', 'already_completed', 'operation_denied', 'operation_expired', 'service_unavailable'),
  );

@Controller('v1/cli/browser')
export class HandoffController {
  constructor(
    private readonly handoffs: Handoffs,
    private readonly codes: UserCodes,
    private readonly signIns: PageSignIn,
    private readonly google: Google,
    private readonly browsers: BrowserClients,
    private readonly environment: Environment,
  ) {}

  @Post('lookup')
  @ConsolePageAccess()
  @HttpCode(200)
  @Operation({ id: 'cliBrowserLookup', tag: TAG, summary: 'Find a login by its user code' })
  @ApiOkResponse({ type: LookupResponse })
  @AddressLimited('user_code')
  async lookup(@Body() { userCode }: UserCodeRequest, @Req() request: FastifyRequest): Promise<LookupResponse> {
    return LookupResponse.from(await this.codes.lookup(userCode, { address: this.addressOf(request) }));
  }

  @Post(':id/details')
  @ConsoleStepAccess()
  @HttpCode(200)
  @Operation({
    id: 'cliBrowserDetails',
    tag: TAG,
    summary: 'Read what is waiting for approval',
    description: 'Changes nothing.',
  })
  @OfOperation()
  @ApiOkResponse({ type: HandoffDetailsResponse })
  async details(
    @Param('id') id: string,
    @Body() { submissionToken }: SubmissionRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HandoffDetailsResponse> {
    const browser = await this.browsers.of(request, reply);
    const details = await this.handoffs.details(id, new Secret(submissionToken), browser);
    return HandoffDetailsResponse.from(details, this.google.isEnabled);
  }

  @Post(':id/submit')
  @ConsoleStepAccess()
  @HttpCode(200)
  @Operation({
    id: 'cliBrowserSubmit',
    tag: TAG,
    summary: 'Approve',
    description:
      'A login and a claim need a signed-in person; the others run as the credential that sent them. Idempotent.',
  })
  @OfOperation()
  @Fails('session_required@401', 'no_eligible_organization', 'not_a_member', 'account_expired', 'account_exists')
  @Fails(
    'conflict',
    'slug_taken',
    'provider_gateway_managed',
    'provider_not_supported_by_gateway',
    'provider_unavailable',
  )
  @Fails('billing_plan_limit_reached', 'billing_payment_required', 'billing_unavailable')
  @ApiOkResponse({ type: SubmittedHandoffResponse })
  async submit(
    @Param('id') id: string,
    @Body() body: SubmitHandoffRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SubmittedHandoffResponse> {
    const browser = await this.browsers.of(request, reply);
    const approval = body.toApproval();
    return SubmittedHandoffResponse.from(
      await this.handoffs.submit(id, new Secret(body.submissionToken), approval, browser),
    );
  }

  @Post(':id/deny')
  @ConsoleStepAccess()
  @HttpCode(200)
  @Operation({
    id: 'cliBrowserDeny',
    tag: TAG,
    summary: 'Decline',
    description:
      'Requires the link or the code, not a session; a signed-in person’s denial is in their audit trail. Idempotent.',
  })
  @OfOperation()
  @ApiOkResponse({ type: DeniedHandoffResponse })
  async deny(
    @Param('id') id: string,
    @Body() { submissionToken }: SubmissionRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeniedHandoffResponse> {
    await this.handoffs.deny(id, new Secret(submissionToken), await this.browsers.of(request, reply));
    return DeniedHandoffResponse.done();
  }

  @Post(':id/register')
  @ConsoleStepAccess()
  @HttpCode(200)
  @Operation({
    id: 'cliBrowserRegister',
    tag: TAG,
    summary: 'Register to approve a login or a claim',
    description:
      'As `signUp`; the answer sets the session’s cookie. For a claim registration is always open, and the person gets no account of their own.',
  })
  @OfOperation()
  @Fails('registration_disabled', 'conflict')
  @ApiOkResponse({ type: SessionBegunResponse, headers: setsCookie('SessionCookie') })
  @AddressLimited('sign_in_address')
  async register(
    @Param('id') id: string,
    @Body() { submissionToken, name, email, password }: RegisterForHandoffRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionBegunResponse> {
    const browser = await this.browsers.of(request, reply);
    const purpose = await this.handoffs.signInPurpose(id, new Secret(submissionToken), browser);
    const signedIn = await this.signIns.register({ name, email, password }, purpose, { browser, reply });
    return SessionBegunResponse.from(signedIn);
  }

  @Post(':id/google')
  @ConsolePageAccess()
  @HttpCode(200)
  @Operation({
    id: 'cliBrowserGoogle',
    tag: TAG,
    summary: 'Sign in with Google to approve a login or a claim',
    description: 'Redirect the browser to `url`; it returns to the approval page, which needs the proof again.',
  })
  @OfOperation()
  @ApiOkResponse({ type: SocialSignInResponse, headers: setsCookie('SignInStateCookie') })
  @AddressLimited('sign_in_address')
  async signInWithGoogle(
    @Param('id') id: string,
    @Body() { submissionToken }: SubmissionRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SocialSignInResponse> {
    const address = this.addressOf(request);
    const purpose = await this.handoffs.signInPurpose(id, new Secret(submissionToken), { address });
    return SocialSignInResponse.from(await this.signIns.beginGoogle(purpose, reply), true);
  }

  private addressOf(request: FastifyRequest): string {
    return addressOf(request, this.environment.TRUSTED_PROXIES);
  }
}
