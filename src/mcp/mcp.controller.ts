import { Body, Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Admin } from '../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { PublicAccess } from '../common/http/access.js';
import { McpAccess } from './mcp-access.decorator.js';
import { McpServer } from './mcp-server.service.js';

@Controller('mcp')
export class McpController {
  constructor(private readonly server: McpServer) {}

  @Post()
  @McpAccess()
  @HttpCode(200)
  async answer(
    @Admin() admin: AdminPrincipal,
    @Req() request: FastifyRequest,
    @Body() message: object,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { status, headers, body } = await this.server.answer({ admin, request }, message);
    void reply.code(status).headers(headers);
    return body;
  }

  /** There are no event streams. */
  @Get()
  @PublicAccess()
  @ApiExcludeEndpoint()
  stream(): never {
    throw methodNotAllowed();
  }

  /** There are no sessions. */
  @Delete()
  @PublicAccess()
  @ApiExcludeEndpoint()
  endSession(): never {
    throw methodNotAllowed();
  }
}

function methodNotAllowed(): GatewayError {
  return new GatewayError('invalid_request', {
    status: 405,
    message: 'Only POST is supported; there are no event streams and no sessions.',
    reason: 'method_not_allowed',
    headers: { allow: 'POST' },
  });
}
