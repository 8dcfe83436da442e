import { Controller, Get, Header, HttpCode, Res } from '@nestjs/common';
import { ApiOkResponse, ApiServiceUnavailableResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { PublicAccess } from '../common/http/access.js';
import { Operation } from '../common/http/openapi.decorators.js';
import { Vault } from '../platform/vault/vault.js';
import { HealthResponse, ReadinessResponse } from './dto/health.response.js';
import { ReadinessService } from './readiness.service.js';

const SERVICE = 'gateway';
const NO_STORE = ['cache-control', 'no-store'] as const;

@Controller('v1')
export class HealthController {
  constructor(
    private readonly vault: Vault,
    private readonly readiness: ReadinessService,
  ) {}

  @Get('healthz')
  @PublicAccess()
  @Header(...NO_STORE)
  @Operation({
    id: 'getHealth',
    tag: 'Operations',
    summary: 'Is the process alive?',
    description: 'Always 200. `vault` is `misconfigured` when no provider key can be decrypted.',
  })
  @ApiOkResponse({ type: HealthResponse })
  health(): HealthResponse {
    return { ok: true, service: SERVICE, vault: this.vault.state };
  }

  @Get('readyz')
  @PublicAccess()
  @HttpCode(200)
  @Header(...NO_STORE)
  @Operation({
    id: 'getReadiness',
    tag: 'Operations',
    summary: 'Can this instance take calls?',
    description:
      '200 when every dependency works, 503 with the same body when one does not or the instance stops soon.',
  })
  @ApiOkResponse({ type: ReadinessResponse })
  @ApiServiceUnavailableResponse({ type: ReadinessResponse, description: 'The same body; `reason` says why.' })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<ReadinessResponse> {
    const state = await this.readiness.check();
    if (!state.ready) void reply.code(503);
    return state;
  }
}
