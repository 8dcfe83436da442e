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
import { BrowserAccess, OptionalSession, Person, PersonAccess } from '../accounts/access/admin-access.decorator.js';
import type { PersonPrincipal } from '../accounts/access/admin-principal.js';
import { ConsoleOrigin } from '../accounts/csrf/csrf-origins.js';
import { ConsoleCookies } from '../accounts/sessions/console-cookies.js';
import { FORM_TYPE, FormOrJson } from '../common/fields/request-shape.pipe.js';
import { PublicAccess } from '../common/http/access.js';
import { headerReference, setsCookie } from '../common/http/answer-headers.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { Secret } from '../common/log/secret.js';
import { AddressLimited } from '../platform/address-limits/address-limit.guard.js';
import { offersSimulation } from '../platform/config/deployment-settings.js';
import { Environment } from '../platform/config/environment.js';
import { BrowserClients, BrowserSessions } from './browser-sessions.service.js';
import { ChangePasswordRequest, SignInRequest, SignUpRequest, UpdateUserRequest } from './dto/console-auth.request.js';
import {
  CapabilitiesResponse,
  SessionBegunResponse,
  SessionResponse,
  SignInResponse,
  SignOutResponse,
  UpdateUserResponse,
} from './dto/console-auth.response.js';
import { RelyingParties } from './passkeys/relying-parties.js';
import { Passwords } from './passwords/passwords.service.js';
import { People } from './people/people.service.js';
import { Google } from './third-party/google.js';

const TAG = 'Console authentication';

@Controller('v1/auth')
@ApiExtraModels(SessionResponse)
export class SignInController {
  constructor(
    private readonly passwords: Passwords,
    private readonly sessions: BrowserSessions,
    private readonly people: People,
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
      'Open until the first person registers, or if the operator allows it; an invitation and the bootstrap key of an unclaimed account are always accepted. The answer sets the session’s cookie. A person without an invitation gets an organization of their own.',
  })
  @Fails('invalid_request', 'registration_disabled', 'not_found', 'conflict', 'service_unavailable')
  @ApiOkResponse({ type: SessionBegunResponse, headers: setsCookie('SessionCookie') })
  @AddressLimited('sign_in_address')
  async signUp(
    @Body() body: SignUpRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionBegunResponse> {
    const signedIn = await this.passwords.signUp(body.toSignUp(), await this.browsers.of(request, reply));
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
    description: 'The answer sets the session’s cookie; the browser’s previous session ends.',
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
    const input = { email, password: new Secret(password) };
    const signedIn = await this.passwords.signIn(input, await this.browsers.of(request, reply));
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
    description: '`null` without a session. Once a day the session is renewed and its cookie set again.',
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
    return SessionResponse.from(session, await this.people.profile(session.row));
  }

  @Post('sign-out')
  @BrowserAccess()
  @OptionalSession()
  @HttpCode(200)
  @Operation({
    id: 'signOut',
    tag: TAG,
    summary: 'Sign out',
    description: 'The same answer without a session.',
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

  @Post('change-password')
  @PersonAccess({ firstParty: true })
  @HttpCode(200)
  @Operation({
    id: 'changePassword',
    tag: TAG,
    summary: 'Change your password',
    description: 'Ends all your sessions; the answer sets the cookie of a new one.',
  })
  @Fails('invalid_request', 'rate_limited', 'service_unavailable')
  @ApiOkResponse({ type: SessionBegunResponse, headers: setsCookie('SessionCookie') })
  async changePassword(
    @Person() person: PersonPrincipal,
    @Body() { currentPassword, newPassword }: ChangePasswordRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionBegunResponse> {
    const input = { currentPassword: new Secret(currentPassword), newPassword: new Secret(newPassword) };
    const signedIn = await this.passwords.change(person, input, await this.browsers.of(request, reply));
    this.cookies.setSession(reply, signedIn.session.cookie.reveal());
    return SessionBegunResponse.from(signedIn);
  }

  @Post('update-user')
  @PersonAccess({ firstParty: true })
  @HttpCode(200)
  @Operation({ id: 'updateUser', tag: TAG, summary: 'Change your name or picture' })
  @Fails('invalid_request')
  @ApiOkResponse({ type: UpdateUserResponse })
  async updateUser(@Person() person: PersonPrincipal, @Body() changes: UpdateUserRequest): Promise<UpdateUserResponse> {
    return UpdateUserResponse.from(await this.people.updateProfile(person, changes));
  }
}

@Controller('v1/console')
export class ConsoleCapabilitiesController {
  constructor(
    private readonly people: People,
    private readonly google: Google,
    private readonly sites: RelyingParties,
    private readonly origin: ConsoleOrigin,
    private readonly environment: Environment,
  ) {}

  @Get('capabilities')
  @PublicAccess()
  @Operation({
    id: 'getConsoleCapabilities',
    tag: 'Operations',
    summary: 'Read the features of the console',
  })
  @ApiOkResponse({ type: CapabilitiesResponse })
  async capabilities(@Req() request: FastifyRequest): Promise<CapabilitiesResponse> {
    const { PLANS_FILE, TERMS_OF_SERVICE_URL, PRIVACY_POLICY_URL, ALLOW_ADDITIONAL_REGISTRATIONS } = this.environment;
    const awaitsFirstPerson = await this.people.isFirstAwaited().catch((error: unknown) => {
      // Without the database it is not known, and registration that the operator has opened stays open.
      if (ALLOW_ADDITIONAL_REGISTRATIONS) return false;
      throw error;
    });
    return CapabilitiesResponse.from({
      billing: PLANS_FILE !== undefined,
      registrationOpen: awaitsFirstPerson || ALLOW_ADDITIONAL_REGISTRATIONS,
      awaitsFirstPerson,
      googleAuth: this.google.isEnabled,
      passkeys: this.sites.find(request) !== undefined,
      simulatedProvider: offersSimulation(this.environment),
      ...(this.origin.issuer === undefined ? {} : { mcpUrl: `${this.origin.issuer}/mcp` }),
      termsOfServiceUrl: TERMS_OF_SERVICE_URL,
      privacyPolicyUrl: PRIVACY_POLICY_URL,
    });
  }
}
