import { Body, Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiQuery, ApiResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BrowserAccess } from '../../accounts/access/admin-access.decorator.js';
import { ConsoleCookies } from '../../accounts/sessions/console-cookies.js';
import { headerReference, setsCookie } from '../../common/http/answer-headers.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { AddressLimited } from '../../platform/address-limits/address-limit.guard.js';
import { BrowserClients } from '../browser-sessions.service.js';
import { SocialSignInRequest } from '../dto/console-auth.request.js';
import { SocialSignInResponse } from '../dto/console-auth.response.js';
import { withError } from './console-path.js';
import { SignInStateCookie } from './sign-in-state-cookie.js';
import { ThirdPartyRefusal } from './third-party-sign-in.rules.js';
import { LOGIN_PATH, ThirdPartySignIn } from './third-party-sign-in.service.js';

const TAG = 'Console authentication';
/** Documents one query parameter of the callback. The library reads further ones. */
const FromGoogle = (name: string, description: string) =>
  ApiQuery({ name, description, required: false, schema: { type: 'string' } });

@Controller('v1/auth')
export class ThirdPartyController {
  constructor(
    private readonly signIns: ThirdPartySignIn,
    private readonly state: SignInStateCookie,
    private readonly browsers: BrowserClients,
    private readonly cookies: ConsoleCookies,
  ) {}

  @Post('sign-in/social')
  @BrowserAccess()
  @HttpCode(200)
  @Operation({
    id: 'signInWithGoogle',
    tag: TAG,
    summary: 'Start a sign-in with Google',
    description: 'Redirect the browser to `url`; the same browser must return within ten minutes.',
  })
  @Fails('invalid_request', 'not_found', 'service_unavailable')
  @ApiOkResponse({ type: SocialSignInResponse, headers: setsCookie('SignInStateCookie') })
  @AddressLimited('sign_in_address')
  async begin(
    @Body() body: SocialSignInRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SocialSignInResponse> {
    const { callbackURL: callbackPath, errorCallbackURL: errorPath, invitationToken, disableRedirect = false } = body;
    const { url, state } = await this.signIns.begin({ callbackPath, errorPath, invitationToken });
    this.state.set(reply, state);
    return SocialSignInResponse.from(url, !disableRedirect);
  }

  @Get('callback/google')
  @BrowserAccess()
  @Operation({
    id: 'googleCallback',
    tag: TAG,
    summary: 'Complete a sign-in with Google',
    description:
      'Google redirects the browser here. Redirects to `callbackURL`, signed in; otherwise to `errorCallbackURL` with `error`: `access_denied`, `registration_disabled`, `account_exists`, `invitation_invalid`, `sign_in_expired` or `sign_in_failed`.',
  })
  @FromGoogle('state', 'The `state` that the sign-in started with.')
  @FromGoogle('code', 'The authorization code.')
  @FromGoogle('error', 'Why the sign-in failed.')
  @Fails('not_found', 'service_unavailable')
  @ApiResponse({
    status: 302,
    description: 'Redirects to the console.',
    headers: { Location: headerReference('ConsolePlace'), ...setsCookie('SessionCookie') },
  })
  async callback(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    void reply
      .code(302)
      .header('location', await this.redirectTarget(request, reply))
      .send();
  }

  /** The redirect target after the callback. On success it also sets the session cookie. */
  private async redirectTarget(request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const state = this.state.take(request, reply);
    this.signIns.requireSetUp();
    if (state === undefined) return withError(LOGIN_PATH, 'sign_in_expired');
    const question = request.url.indexOf('?');
    const query = question < 0 ? '' : request.url.slice(question);
    try {
      const session = await this.signIns.finish(query, state, await this.browsers.of(request, reply));
      this.cookies.setSession(reply, session.cookie.reveal());
      return state.callbackPath;
    } catch (error) {
      if (error instanceof ThirdPartyRefusal) return withError(state.errorPath, error.failure);
      throw error;
    }
  }
}
