import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ReadFromInstanceRequest } from './dto/streams.request.js';
import { InstanceAccess } from './instance.guard.js';
import { InstanceStreams } from './instance-streams.service.js';

@Controller('v1/instances')
export class InstanceStreamsController {
  constructor(private readonly streams: InstanceStreams) {}

  @Get(':instance/streams/:stream')
  @InstanceAccess()
  read(
    @Param('stream') mark: string,
    @Query() { from }: ReadFromInstanceRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Buffer | undefined {
    const kept = this.streams.reply(mark, from);
    if (kept === undefined) reply.status(204);
    else reply.header('content-type', 'application/octet-stream');
    return kept;
  }
}
