import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { setsCookie } from '../../common/http/answer-headers.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { Secret } from '../../common/log/secret.js';
import { Person, PersonAccess } from '../../identity/admin-access.decorator.js';
import type { PersonPrincipal } from '../../identity/admin-principal.js';
import { ConsoleCookies } from '../../identity/sessions/console-cookies.js';
import { BrowserClients } from '../browser-client.js';
import { ChangePasswordRequest, UpdateUserRequest } from '../dto/profile.request.js';
import { SessionBegunResponse, UpdateUserResponse } from '../dto/user.response.js';
import { PasswordChange } from '../passwords/password-change.service.js';
import { Profile } from './profile.service.js';

const TAG = 'Console authentication';

@Controller('v1/auth')
export class ProfileController {
  constructor(
    private readonly profile: Profile,
    private readonly passwords: PasswordChange,
    private readonly browsers: BrowserClients,
    private readonly cookies: ConsoleCookies,
  ) {}

  @Post('change-password')
  @PersonAccess({ firstParty: true })
  @HttpCode(200)
  @Operation({
    id: 'changePassword',
    tag: TAG,
    summary: 'Change your password',
    description: 'Ends every session of yours; the answer sets the cookie of a new one.',
  })
  @Fails('invalid_request', 'rate_limited', 'service_unavailable')
  @ApiOkResponse({ type: SessionBegunResponse, headers: setsCookie('SessionCookie') })
  async changePassword(
    @Person() person: PersonPrincipal,
    @Body() { currentPassword, newPassword }: ChangePasswordRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionBegunResponse> {
    const typed = { currentPassword: new Secret(currentPassword), newPassword: new Secret(newPassword) };
    const signedIn = await this.passwords.change(person, typed, await this.browsers.of(request, reply));
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
    return UpdateUserResponse.from(await this.profile.update(person, changes));
  }
}
