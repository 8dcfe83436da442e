import { Body, Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiExtraModels,
  ApiOkResponse,
  ApiUnauthorizedResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FORM_TYPE, FormOrJson } from '../common/fields/form-or-json.decorator.js';
import { headerReference, setsCookie } from '../common/http/answer-headers.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { Secret } from '../common/log/secret.js';
import { BrowserAccess, OptionalSession } from '../identity/admin-access.decorator.js';
import { ConsoleCookies } from '../identity/sessions/console-cookies.js';
import { AddressLimited } from '../rate-limits/address-limited.decorator.js';
import { BrowserClients } from './browser-client.js';
import { BrowserSessions } from './browser-sessions.service.js';
import { SessionResponse, SignOutResponse } from './dto/session.response.js';
import { SignInRequest, SignUpRequest } from './dto/sign-in.request.js';
import { SessionBegunResponse, SignInResponse } from './dto/user.response.js';
import { PasswordSignIn } from './passwords/password-sign-in.service.js';
import { PasswordSignUp } from './passwords/password-sign-up.service.js';
import { Profile } from './people/profile.service.js';

const TAG = 'Console authentication';

@Controller('v1/auth')
@ApiExtraModels(SessionResponse)
export class ConsoleAuthController {
  constructor(
    private readonly signUps: PasswordSignUp,
    private readonly signIns: PasswordSignIn,
    private readonly sessions: BrowserSessions,
    private readonly profile: Profile,
    private readonly browsers: BrowserClients,
    private readonly cookies: ConsoleCookies,
  ) {}

  @Post('sign-up/email')
  @BrowserAccess()
  @HttpCode(200)
  @Operation({
    id: 'signUp',
    tag: TAG,
    summary: 'Register with a password',
    description:
      'Open until somebody has an account, or when the operator says so; an invitation always opens it, and so does the bootstrap key of an account that nobody owns. The answer sets the session’s cookie. Who is not invited gets an organization of their own.',
  })
  @Fails('invalid_request', 'registration_disabled', 'not_found', 'conflict', 'service_unavailable')
  @ApiOkResponse({ type: SessionBegunResponse, headers: setsCookie('SessionCookie') })
  @AddressLimited('sign_in_address')
  async signUp(
    @Body() body: SignUpRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionBegunResponse> {
    const signedIn = await this.signUps.signUp(body.toRegistration(), await this.browsers.of(request, reply));
    this.cookies.setSession(reply, signedIn.session.cookie.reveal());
    return SessionBegunResponse.from(signedIn);
  }

  @Post('sign-in/email')
  @BrowserAccess()
  @HttpCode(200)
  @Operation({
    id: 'signIn',
    tag: TAG,
    summary: 'Sign in with a password',
    description: 'The answer sets the session’s cookie; the session the browser had ends.',
  })
  @ApiConsumes('application/json', FORM_TYPE)
  @ApiBody({ type: SignInRequest })
  @Fails('invalid_request', 'auth_required', 'service_unavailable')
  @ApiOkResponse({ type: SignInResponse, headers: setsCookie('SessionCookie') })
  @ApiUnauthorizedResponse({ headers: { 'WWW-Authenticate': headerReference('Challenge') } })
  @AddressLimited('sign_in_address')
  async signIn(
    @FormOrJson(SignInRequest) { email, password }: SignInRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignInResponse> {
    const typed = { email, password: new Secret(password) };
    const signedIn = await this.signIns.signIn(typed, await this.browsers.of(request, reply));
    this.cookies.setSession(reply, signedIn.session.cookie.reveal());
    return SignInResponse.from(signedIn);
  }

  @Get('get-session')
  @BrowserAccess()
  @OptionalSession()
  @Operation({
    id: 'getSession',
    tag: TAG,
    summary: 'Read who is signed in',
    description: '`null` when nobody is. Once a day the session is renewed and its cookie set again.',
  })
  @Fails('service_unavailable')
  @ApiOkResponse({ schema: { anyOf: [{ $ref: getSchemaPath(SessionResponse) }, { type: 'null' }] } })
  async session(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionResponse | 'null'> {
    const { session } = await this.browsers.of(request, reply);
    if (session === undefined) {
      void reply.type('application/json');
      return 'null';
    }
    return SessionResponse.from(session, await this.profile.read({ identityId: session.row.identity_id }));
  }

  @Post('sign-out')
  @BrowserAccess()
  @OptionalSession()
  @HttpCode(200)
  @Operation({
    id: 'signOut',
    tag: TAG,
    summary: 'Sign out',
    description: 'Whoever is not signed in gets the same answer.',
  })
  @Fails('service_unavailable')
  @ApiOkResponse({ type: SignOutResponse, headers: setsCookie('SessionCookie') })
  async signOut(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignOutResponse> {
    await this.sessions.signOut(await this.browsers.of(request, reply));
    this.cookies.clear(reply);
    return SignOutResponse.done();
  }
}
