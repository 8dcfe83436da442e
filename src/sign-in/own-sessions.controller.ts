import { Body, Controller, Get, HttpCode, Post, Res } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Person, PersonAccess } from '../accounts/access/admin-access.decorator.js';
import type { PersonPrincipal } from '../accounts/access/admin-principal.js';
import { ConsoleCookies } from '../accounts/sessions/console-cookies.js';
import { setsCookie } from '../common/http/answer-headers.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { BrowserSessions } from './browser-sessions.service.js';
import { RevokeSessionRequest } from './dto/own-sessions.request.js';
import { OwnSessionsResponse, RevokedSessionsResponse } from './dto/own-sessions.response.js';

const TAG = 'Console authentication';

/** The sessions of the person who is signed in. */
@Controller('v1/auth')
export class OwnSessionsController {
  constructor(
    private readonly sessions: BrowserSessions,
    private readonly cookies: ConsoleCookies,
  ) {}

  @Get('list-sessions')
  @PersonAccess({ firstParty: true })
  @Operation({ id: 'listSessions', tag: TAG, summary: 'List your sessions', description: 'Most recently used first.' })
  @Fails('service_unavailable')
  @ApiOkResponse({ type: OwnSessionsResponse })
  async list(@Person() person: PersonPrincipal): Promise<OwnSessionsResponse> {
    return OwnSessionsResponse.from(await this.sessions.listOf(person), person.sessionId);
  }

  @Post('revoke-session')
  @PersonAccess({ firstParty: true })
  @HttpCode(200)
  @Operation({
    id: 'revokeSession',
    tag: TAG,
    summary: 'End one of your sessions',
    description: 'Takes effect with its next request, on every instance.',
  })
  @Fails('invalid_request', 'not_found', 'service_unavailable')
  @ApiOkResponse({ type: RevokedSessionsResponse })
  async revoke(
    @Person() person: PersonPrincipal,
    @Body() { id }: RevokeSessionRequest,
  ): Promise<RevokedSessionsResponse> {
    return RevokedSessionsResponse.of(await this.sessions.revoke(person, id));
  }

  @Post('revoke-sessions')
  @PersonAccess({ firstParty: true })
  @HttpCode(200)
  @Operation({
    id: 'revokeSessions',
    tag: TAG,
    summary: 'Sign out everywhere',
    description: 'Ends all your sessions, this one included. Management keys and connections stay.',
  })
  @Fails('service_unavailable')
  @ApiOkResponse({ type: RevokedSessionsResponse, headers: setsCookie('SessionCookie') })
  async revokeAll(
    @Person() person: PersonPrincipal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RevokedSessionsResponse> {
    const revoked = await this.sessions.revokeAll(person);
    this.cookies.clear(reply);
    return RevokedSessionsResponse.of(revoked);
  }
}
