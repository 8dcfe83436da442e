import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiUnauthorizedResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BrowserAccess, Person, PersonAccess } from '../accounts/access/admin-access.decorator.js';
import type { PersonPrincipal } from '../accounts/access/admin-principal.js';
import { ConsoleCookies } from '../accounts/sessions/console-cookies.js';
import { headerReference, setsCookie } from '../common/http/answer-headers.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { AddressLimited } from '../platform/address-limits/address-limit.guard.js';
import { BrowserClients } from './browser-sessions.service.js';
import { SignInResponse } from './dto/console-auth.response.js';
import { PasskeySignInRequest, RegisterPasskeyRequest } from './dto/passkeys.request.js';
import {
  PasskeyListResponse,
  PasskeyOptionsResponse,
  PasskeyResponse,
  RemovedPasskeyResponse,
} from './dto/passkeys.response.js';
import { PasskeyBindingCookie } from './passkeys/passkey-binding-cookie.js';
import { Passkeys } from './passkeys/passkeys.service.js';
import { RelyingParties } from './passkeys/relying-parties.js';

const TAG = 'Console authentication';

/** Passkeys of the person who is signed in, and sign-in with one. */
@Controller('v1/auth')
export class PasskeysController {
  constructor(
    private readonly passkeys: Passkeys,
    private readonly sites: RelyingParties,
    private readonly binding: PasskeyBindingCookie,
    private readonly browsers: BrowserClients,
    private readonly cookies: ConsoleCookies,
  ) {}

  @Get('passkeys')
  @PersonAccess({ firstParty: true })
  @Operation({ id: 'listPasskeys', tag: TAG, summary: 'List your passkeys' })
  @Fails('service_unavailable')
  @ApiOkResponse({ type: PasskeyListResponse })
  async list(@Person() person: PersonPrincipal): Promise<PasskeyListResponse> {
    return PasskeyListResponse.from(await this.passkeys.list(person));
  }

  @Post('passkeys/options')
  @PersonAccess({ firstParty: true })
  @HttpCode(200)
  @Operation({
    id: 'startPasskey',
    tag: TAG,
    summary: 'Start adding a passkey',
    description: 'Within 15 minutes after the sign-in of the session.',
  })
  @Fails('forbidden', 'not_found', 'conflict', 'service_unavailable')
  @ApiOkResponse({ type: PasskeyOptionsResponse })
  async startRegistration(
    @Person() person: PersonPrincipal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PasskeyOptionsResponse> {
    const site = this.sites.require(request);
    const browser = await this.browsers.of(request, reply);
    return PasskeyOptionsResponse.of(await this.passkeys.startRegistration(person, browser, site));
  }

  @Post('passkeys')
  @PersonAccess({ firstParty: true })
  @HttpCode(200)
  @Operation({
    id: 'createPasskey',
    tag: TAG,
    summary: 'Add a passkey',
    description:
      'Takes what the browser returned for the options; all members are base64url. It must verify the person.',
  })
  @Fails('invalid_request', 'forbidden', 'not_found', 'conflict', 'service_unavailable')
  @ApiOkResponse({ type: PasskeyResponse })
  async register(
    @Person() person: PersonPrincipal,
    @Body() body: RegisterPasskeyRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PasskeyResponse> {
    const site = this.sites.require(request);
    const browser = await this.browsers.of(request, reply);
    return PasskeyResponse.from(await this.passkeys.register(person, browser, site, body));
  }

  @Delete('passkeys/:id')
  @PersonAccess({ firstParty: true })
  @Operation({
    id: 'removePasskey',
    tag: TAG,
    summary: 'Remove a passkey',
    description: 'Within 15 minutes after the sign-in of the session. Sessions stay.',
  })
  @ApiParam({ name: 'id', description: 'Id of the passkey.', schema: { type: 'string' } })
  @Fails('forbidden', 'not_found', 'service_unavailable')
  @ApiOkResponse({ type: RemovedPasskeyResponse })
  async remove(
    @Person() person: PersonPrincipal,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RemovedPasskeyResponse> {
    await this.passkeys.remove(person, await this.browsers.of(request, reply), id);
    return RemovedPasskeyResponse.done();
  }

  @Post('sign-in/passkey/options')
  @BrowserAccess()
  @HttpCode(200)
  @Operation({
    id: 'startPasskeySignIn',
    tag: TAG,
    summary: 'Start a sign-in with a passkey',
    description: 'The answer sets a cookie: only this browser can use the challenge.',
  })
  @Fails('not_found', 'service_unavailable')
  @ApiOkResponse({ type: PasskeyOptionsResponse, headers: setsCookie('PasskeyCookie') })
  @AddressLimited('passkey_challenge')
  async startSignIn(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PasskeyOptionsResponse> {
    const { options, binding } = await this.passkeys.startSignIn(this.sites.require(request));
    this.binding.set(reply, binding);
    return PasskeyOptionsResponse.of(options);
  }

  @Post('sign-in/passkey')
  @BrowserAccess()
  @HttpCode(200)
  @Operation({
    id: 'signInWithPasskey',
    tag: TAG,
    summary: 'Sign in with a passkey',
    description:
      'Takes what the browser returned for the options; all members are base64url. The answer sets the session’s ' +
      'cookie. Every failure is the same 401.',
  })
  @Fails('invalid_request', 'auth_required', 'not_found', 'service_unavailable')
  @ApiOkResponse({ type: SignInResponse, headers: setsCookie('SessionCookie') })
  @ApiUnauthorizedResponse({ headers: { 'WWW-Authenticate': headerReference('Challenge') } })
  @AddressLimited('sign_in_address')
  async signIn(
    @Body() body: PasskeySignInRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignInResponse> {
    const site = this.sites.require(request);
    const browser = await this.browsers.of(request, reply);
    const signedIn = await this.passkeys.signIn(body, { site, binding: this.binding.read(request), browser });
    this.binding.clear(reply);
    this.cookies.setSession(reply, signedIn.session.cookie.reveal());
    return SignInResponse.from(signedIn);
  }
}
