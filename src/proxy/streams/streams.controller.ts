import { Controller, Delete, Get, HttpCode, Param, Query, Res, UseGuards } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../../client-auth/callers/caller.js';
import { CallerAccess, ProvenCaller } from '../../client-auth/callers/caller-access.decorator.js';
import { VaryingAnswersGuard } from '../../client-auth/origins/varying-answers.guard.js';
import { headerReference } from '../../common/http/answer-headers.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { ReadStreamRequest } from './dto/streams.request.js';
import { Streams } from './streams.service.js';

const APP = { name: 'app', description: 'Id of the application.', schema: { type: 'string' } } as const;
const STREAM = {
  name: 'stream',
  description: 'The value of `X-Gateway-Stream` of the answer.',
  schema: { type: 'string' },
} as const;

@Controller('v1/apps')
@UseGuards(VaryingAnswersGuard)
export class StreamsController {
  constructor(private readonly streams: Streams) {}

  @Get(':app/streams/:stream')
  @CallerAccess({ appVersion: 'optional' })
  @Operation({
    id: 'readStream',
    tag: 'Application',
    summary: 'Resume an answer after its connection was lost',
    description:
      'For answers of applications with `streams`: the bytes from `offset` on, as sent to the client of the call, and the rest as it arrives. An incomplete answer is cut off at its end. Does not count against limits and costs nothing.',
  })
  @ApiParam(APP)
  @ApiParam(STREAM)
  @ApiOkResponse({
    description: 'The rest of the answer, with its content type.',
    content: { '*/*': { schema: { type: 'string', example: 'data: [DONE]\n\n' } } },
    headers: {
      'X-Gateway-Stream-Offset': headerReference('StreamOffset'),
      'X-Gateway-Stream-State': headerReference('StreamState'),
      'X-Gateway-Stream-Length': headerReference('StreamLength'),
    },
  })
  @Fails('auth_required@403', 'stream_not_found', 'stream_expired', 'invalid_request@416', 'rate_limited')
  async read(
    @ProvenCaller() caller: Caller,
    @Param('stream') id: string,
    @Query() { offset = 0 }: ReadStreamRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const stream = await this.streams.find(caller, id);
    await this.streams.serve(stream, offset, reply.raw);
    reply.hijack();
  }

  @Delete(':app/streams/:stream')
  @HttpCode(204)
  @CallerAccess({ appVersion: 'optional' })
  @Operation({
    id: 'stopStream',
    tag: 'Application',
    summary: 'Stop a call whose answer is still arriving',
    description: 'Cancels the call at the provider and settles its usage; the received part stays readable.',
  })
  @ApiParam(APP)
  @ApiParam(STREAM)
  @ApiNoContentResponse({ description: 'The call is stopped, or had already ended.' })
  @Fails('stream_not_found')
  stop(@ProvenCaller() caller: Caller, @Param('stream') id: string): Promise<void> {
    return this.streams.stop(caller, id);
  }
}
