import { Body, Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiUnauthorizedResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Admin, AdminAccess, BrowserAccess, Person, PersonAccess } from '../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal, PersonPrincipal } from '../accounts/access/admin-principal.js';
import { ConsoleOrigin } from '../accounts/csrf/csrf-origins.js';
import { ConsoleCookies } from '../accounts/sessions/console-cookies.js';
import { headerReference, setsCookie } from '../common/http/answer-headers.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { Secret } from '../common/log/secret.js';
import { AddressLimited } from '../platform/address-limits/address-limit.guard.js';
import { BrowserClients } from './browser-sessions.service.js';
import { SessionBegunResponse } from './dto/console-auth.response.js';
import { RecoverRequest, ResetPasswordRequest } from './dto/recovery.request.js';
import {
  IssuedPasswordResetResponse,
  PasswordResetResponse,
  RecoveryCodeCountResponse,
  RecoveryCodesResponse,
} from './dto/recovery.response.js';
import { PasswordResets } from './recovery/password-resets.service.js';
import { RecoveryCodes } from './recovery/recovery-codes.service.js';

const TAG = 'Console authentication';

/** Recovery codes of the person who is signed in, and new passwords without the current one. */
@Controller('v1/auth')
export class RecoveryController {
  constructor(
    private readonly codes: RecoveryCodes,
    private readonly resets: PasswordResets,
    private readonly browsers: BrowserClients,
    private readonly cookies: ConsoleCookies,
  ) {}

  @Get('recovery-codes')
  @PersonAccess({ firstParty: true })
  @Operation({ id: 'countRecoveryCodes', tag: TAG, summary: 'Count your recovery codes' })
  @Fails('service_unavailable')
  @ApiOkResponse({ type: RecoveryCodeCountResponse })
  async count(@Person() person: PersonPrincipal): Promise<RecoveryCodeCountResponse> {
    return RecoveryCodeCountResponse.of(await this.codes.count(person));
  }

  @Post('recovery-codes')
  @PersonAccess({ firstParty: true })
  @HttpCode(200)
  @Operation({
    id: 'replaceRecoveryCodes',
    tag: TAG,
    summary: 'Replace your recovery codes',
    description: 'Ten new ones; the old ones no longer work. Within 15 minutes after the sign-in of the session.',
  })
  @Fails('forbidden', 'rate_limited', 'service_unavailable')
  @ApiOkResponse({ type: RecoveryCodesResponse })
  async replace(
    @Person() person: PersonPrincipal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RecoveryCodesResponse> {
    return RecoveryCodesResponse.of(await this.codes.replace(person, await this.browsers.of(request, reply)));
  }

  @Post('recover')
  @BrowserAccess()
  @HttpCode(200)
  @Operation({
    id: 'recover',
    tag: TAG,
    summary: 'Set a new password with a recovery code',
    description: 'The code is used up and all sessions end; the answer sets the cookie of a new one.',
  })
  @Fails('invalid_request', 'auth_required', 'service_unavailable')
  @ApiOkResponse({ type: SessionBegunResponse, headers: setsCookie('SessionCookie') })
  @ApiUnauthorizedResponse({ headers: { 'WWW-Authenticate': headerReference('Challenge') } })
  @AddressLimited('sign_in_address')
  async recover(
    @Body() { email, code, newPassword }: RecoverRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionBegunResponse> {
    const input = { email, code, newPassword: new Secret(newPassword) };
    const signedIn = await this.codes.recover(input, await this.browsers.of(request, reply));
    this.cookies.setSession(reply, signedIn.session.cookie.reveal());
    return SessionBegunResponse.from(signedIn);
  }

  @Post('reset-password')
  @BrowserAccess()
  @HttpCode(200)
  @Operation({
    id: 'resetPassword',
    tag: TAG,
    summary: 'Set a new password with a link from an owner',
    description: 'The link is used up and all sessions of the person end; they sign in with the new password.',
  })
  @Fails('invalid_request', 'not_found', 'service_unavailable')
  @ApiOkResponse({ type: PasswordResetResponse })
  @AddressLimited('sign_in_address')
  async reset(@Body() { token, newPassword }: ResetPasswordRequest): Promise<PasswordResetResponse> {
    await this.resets.redeem(new Secret(token), new Secret(newPassword));
    return PasswordResetResponse.done();
  }
}

@Controller('v1/admin/members')
export class PasswordResetsController {
  constructor(
    private readonly resets: PasswordResets,
    private readonly browsers: BrowserClients,
    private readonly origin: ConsoleOrigin,
  ) {}

  @Post(':user/password-reset')
  @AdminAccess('write', { role: 'owner', credential: 'session' })
  @HttpCode(200)
  @Operation({
    id: 'createPasswordReset',
    tag: 'Admin organizations',
    summary: 'Create a link for a member to set a new password',
    description:
      'For owners, within 15 minutes after the sign-in of the session. Valid once, for a day; another link replaces ' +
      'it. Only if you own every account of the person.',
  })
  @ApiParam({ name: 'user', description: 'Id of the member.', schema: { type: 'string' } })
  @Fails('invalid_request', 'not_found', 'conflict')
  @ApiOkResponse({ type: IssuedPasswordResetResponse })
  @AddressLimited('password_reset')
  async create(
    @Admin() admin: AdminPrincipal,
    @Param('user') user: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedPasswordResetResponse> {
    const issued = await this.resets.issue(admin, await this.browsers.of(request, reply), user);
    return IssuedPasswordResetResponse.from(issued, this.origin.url);
  }
}
