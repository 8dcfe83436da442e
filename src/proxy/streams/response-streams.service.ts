import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../client-auth/callers/caller.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { type GatewayRequest, SERVER_TIMING, serverTimingOf } from '../../common/http/gateway-request.js';
import { lruCache } from '../../common/lru-cache.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import { RedisConnection } from '../../platform/redis/redis-connection.js';
import { KeptObjects } from '../../usage/recording/kept-objects.service.js';
import type { KeptStream } from './kept-stream.js';
import { EventsAfter, type ResumedResponse, responseIdIn } from './response-events.rules.js';
import { STREAM_HEADER } from './stream-headers.js';
import type { StreamOwner } from './stream-id.rules.js';
import { StreamIds } from './stream-ids.service.js';
import { ownerUnreachable } from './stream-mirrors.js';
import { Streams } from './streams.service.js';

const MAX_KNOWN = 10_000;
/** The id of a response is in its first event. */
const MAX_START_BYTES = 16 * 1024;
/** How much longer than `resume_seconds` the id of a response is kept: it is known before the answer ends. */
const GRACE_MS = 3_600_000;

/**
 * Finds kept answers by the id that the Responses API gave them, so that its clients can resume with that API.
 *
 * Source: docs/reference/application-api.md#resumable-answers.
 */
@Injectable()
export class ResponseStreams {
  /** Ids of streams, by the mark of owner and response. */
  readonly #known = lruCache<{ readonly id: string }>(MAX_KNOWN);

  constructor(
    private readonly marks: StreamIds,
    private readonly streams: Streams,
    private readonly objects: KeptObjects,
    private readonly redis: RedisConnection,
    private readonly instances: InstanceRegistry,
  ) {}

  /** Stores the id of a response as soon as it arrives. */
  note(stream: KeptStream, owner: StreamOwner): void {
    const unfollow = stream.follow(() => {
      const start = stream.read(0);
      const responseId = start && responseIdIn(start.subarray(0, MAX_START_BYTES));
      if (responseId === undefined && stream.length < MAX_START_BYTES && stream.state === 'live') return;
      unfollow();
      if (responseId !== undefined) this.keep(stream, owner, responseId);
    });
  }

  /**
   * Answers with the complete events of a response that the caller created.
   *
   * @throws stream_not_found, stream_expired; service_unavailable Redis, which knows those of other instances, does
   * not answer; as {@link Streams.serve}.
   */
  async answer(
    caller: Caller,
    { responseId, startingAfter }: ResumedResponse,
    request: GatewayRequest,
    response: ServerResponse,
  ): Promise<void> {
    const { app, userId } = caller;
    const id = await this.find({ appId: app.id, userId }, responseId);
    if (id === undefined) {
      const isForeign = (await this.objects.findForeign(app.id, userId, [responseId])) !== undefined;
      throw new GatewayError(isForeign ? 'stream_not_found' : 'stream_expired');
    }
    const stream = await this.streams.find(caller, id);
    const events = new EventsAfter(startingAfter);
    const headers = [STREAM_HEADER, id, SERVER_TIMING, serverTimingOf(request) ?? ''];
    await this.streams.serve(stream, 0, response, { headers, select: (bytes) => events.take(bytes) });
  }

  private keep({ facts }: KeptStream, owner: StreamOwner, responseId: string): void {
    const { mark, seal } = this.marks.named('response', owner, responseId);
    this.#known.set(mark, facts);
    const keptMs = facts.resumeSeconds * 1000 + GRACE_MS;
    void this.redis.run((client) => client.set(keyOf(mark), seal(facts.id), 'PX', keptMs));
  }

  private async find(owner: StreamOwner, responseId: string): Promise<string | undefined> {
    const { mark, open } = this.marks.named('response', owner, responseId);
    const known = this.#known.get(mark);
    if (known !== undefined) return known.id;
    const sealed = await this.redis.run((client) => client.getBuffer(keyOf(mark)));
    if (sealed === undefined && !this.instances.isAlone) throw ownerUnreachable();
    return sealed ? open(sealed) : undefined;
  }
}

function keyOf(mark: string): string {
  return `gw:response:${mark}`;
}
