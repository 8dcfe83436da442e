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
import { StreamStops } from './stream-stops.js';
import { StreamStore } from './stream-store.js';

/** Maximum concurrent readers of one answer. */
const MAX_READERS = 16;
const READERS_RETRY_SECONDS = 5;

/** Reads and stops kept answers for their callers. Source: docs/reference/application-api.md#resumable-answers. */
@Injectable()
export class Streams {
  private readonly heartbeatMs: number;

  constructor(
    private readonly ids: StreamIds,
    private readonly store: StreamStore,
    private readonly mirrors: StreamMirrors,
    private readonly stops: StreamStops,
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
  serve(stream: KeptStream, offset: number, response: ServerResponse, reading: Reading = {}): void {
    const { state, length } = stream;
    if (state !== 'live' && offset > length) {
      throw new GatewayError('invalid_request', {
        status: 416,
        message: `offset: the answer has ended after ${length} bytes`,
        reason: 'stream_offset_too_large',
        headers: { [STREAM_STATE_HEADER]: state, [STREAM_LENGTH_HEADER]: String(length) },
      });
    }
    if (stream.readers >= MAX_READERS) {
      throw new GatewayError('rate_limited', {
        message: `At most ${MAX_READERS} clients may read an answer at a time.`,
        reason: 'stream_readers_exhausted',
        data: { scope: 'stream_readers' },
        retryAfterSeconds: READERS_RETRY_SECONDS,
      });
    }
    new StreamReader(stream, offset, response, this.open, { ...reading, heartbeatMs: this.heartbeatMs }).start();
  }

  /**
   * Answers a repeated call with the answer of the first one, from its start.
   *
   * @throws as `find` and `serve`; idempotency_stream_ended the answer was stopped, or not all of it is kept.
   */
  async repeat(caller: Caller, id: string, request: GatewayRequest, response: ServerResponse): Promise<void> {
    const stream = await this.find(caller, id);
    if (stream.state === 'stopped' || stream.state === 'lost') throw new GatewayError('idempotency_stream_ended');
    this.serve(stream, 0, response, { headers: [STREAM_HEADER, id, SERVER_TIMING, serverTimingOf(request) ?? ''] });
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
