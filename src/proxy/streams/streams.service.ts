import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../client-auth/callers/caller.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { type GatewayRequest, SERVER_TIMING, serverTimingOf } from '../../common/http/gateway-request.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import { Environment } from '../../platform/config/environment.js';
import { BlockedUsers, userBlocked } from '../../users/blocked-users.js';
import { OpenAnswers } from '../relay/open-answers.js';
import { KeptStream } from './kept-stream.js';
import { STREAM_HEADER, STREAM_LENGTH_HEADER, STREAM_STATE_HEADER } from './stream-headers.js';
import { type NamedStream, StreamIds } from './stream-ids.service.js';
import { StreamMirrors } from './stream-mirrors.js';
import { type Reading, StreamReader } from './stream-reader.js';
import { StreamReaders } from './stream-readers.js';
import { StreamStops } from './stream-stops.js';
import { StreamStore } from './stream-store.js';

/** Reads and stops kept answers for their callers. Source: docs/reference/application-api.md#resumable-answers. */
@Injectable()
export class Streams {
  private readonly heartbeatMs: number;

  constructor(
    private readonly ids: StreamIds,
    private readonly store: StreamStore,
    private readonly mirrors: StreamMirrors,
    private readonly stops: StreamStops,
    private readonly readers: StreamReaders,
    private readonly blockedUsers: BlockedUsers,
    private readonly open: OpenAnswers,
    private readonly clock: SharedClock,
    environment: Environment,
  ) {
    this.heartbeatMs = environment.STREAM_HEARTBEAT_SECONDS * 1000;
  }

  /**
   * The answer with this id.
   *
   * @throws stream_not_found no answer to this caller; stream_expired, auth_required (403, a blocked user).
   */
  async find(caller: Caller, id: string): Promise<KeptStream> {
    const { app, userId } = caller;
    const named = this.ids.read(id, { appId: app.id, userId });
    if (named === undefined) throw new GatewayError('stream_not_found');
    if (userId !== null && (await this.blockedUsers.isBlocked(app, userId))) throw userBlocked();
    const stream =
      this.store.find(named.mark) ?? (await this.mirrors.find(named, app.id)) ?? this.lostOrExpired(named, app.id);
    if (app.streamsOf(stream.facts.endpointSlug) === undefined && stream.state !== 'lost') throw expired();
    return stream;
  }

  /**
   * Answers with the bytes from an offset on, and the rest as it arrives.
   *
   * @throws invalid_request (416) the answer has ended before the offset; rate_limited too many readers.
   */
  async serve(stream: KeptStream, offset: number, response: ServerResponse, reading: Reading = {}): Promise<void> {
    const { state, length } = stream;
    if (state !== 'live' && offset > length) {
      throw new GatewayError('invalid_request', {
        status: 416,
        message: `offset: the answer has ended after ${length} bytes`,
        reason: 'stream_offset_too_large',
        headers: { [STREAM_STATE_HEADER]: state, [STREAM_LENGTH_HEADER]: String(length) },
      });
    }
    const onClose = await this.readers.enter(stream);
    const { heartbeatMs } = this;
    new StreamReader(stream, offset, response, this.open, { ...reading, heartbeatMs, onClose }).start();
  }

  /**
   * Answers a repeated call with the answer of the first one, from its start.
   *
   * @throws as `find` and `serve`; idempotency_stream_ended the answer was stopped, has expired, or is not kept whole.
   */
  async repeat(caller: Caller, id: string, request: GatewayRequest, response: ServerResponse): Promise<void> {
    const stream = await this.find(caller, id).catch((error: unknown) => {
      // Its key outlives it where the end of the answer could not be written.
      const isExpired = error instanceof GatewayError && error.code === 'stream_expired';
      throw isExpired ? new GatewayError('idempotency_stream_ended') : error;
    });
    if (stream.state === 'stopped' || stream.state === 'lost') throw new GatewayError('idempotency_stream_ended');
    await this.serve(stream, 0, response, {
      headers: [STREAM_HEADER, id, SERVER_TIMING, serverTimingOf(request) ?? ''],
    });
  }

  /** Ends the call of an answer that is still arriving. No effect on one that has ended. @throws stream_not_found. */
  async stop(caller: Caller, id: string): Promise<void> {
    const { app, userId } = caller;
    const named = this.ids.read(id, { appId: app.id, userId });
    if (named === undefined) throw new GatewayError('stream_not_found');
    await this.stops.stop(named);
  }

  /** An answer that is no longer kept has expired, unless it is too recent for that: then it is lost. */
  private lostOrExpired({ id, mark, mayExpireAtMs }: NamedStream, appId: string): KeptStream {
    if (this.clock.nowMs() >= mayExpireAtMs) throw expired();
    const facts = { id, mark, appId, endpointSlug: null, status: 200, contentType: '', maxBytes: 0, resumeSeconds: 0 };
    const lost = new KeptStream(facts, { reserve: () => false, release: () => undefined, ended: () => undefined });
    lost.end('lost');
    return lost;
  }
}

function expired(): GatewayError {
  return new GatewayError('stream_expired', { reason: 'stream_expired' });
}
