import { Injectable } from '@nestjs/common';
import type { StreamsConfig } from '../../app-directory/config/streams-config.js';
import type { Caller } from '../../client-auth/callers/caller.js';
import type { GatewayRequest } from '../../common/http/gateway-request.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import type { KeptStream } from './kept-stream.js';
import type { RepeatClaim } from './repeat-claim.js';
import { ResponseStreams } from './response-streams.service.js';
import { STREAM_HEADER } from './stream-headers.js';
import type { StreamOwner } from './stream-id.rules.js';
import { StreamIds } from './stream-ids.service.js';
import { StreamPublisher } from './stream-publisher.js';
import { StreamStore } from './stream-store.js';

/** How to keep the answer of a call. */
export interface KeepRequest {
  readonly config: StreamsConfig;
  readonly owner: StreamOwner;
  /** Null on the proxy. */
  readonly endpointSlug: string | null;
  /** For a call with an `Idempotency-Key`. */
  readonly claim?: RepeatClaim;
}

/** The head of an answer that may be kept. */
interface Head {
  readonly status: number;
  /** Flat list of names and values. */
  readonly headers: string[];
}

/** @returns undefined for a call whose answer is not kept. @param endpointSlug null on the proxy. */
export function keepRequestOf(
  { app, userId }: Pick<Caller, 'app' | 'userId'>,
  { method }: Pick<GatewayRequest, 'method'>,
  endpointSlug: string | null,
): KeepRequest | undefined {
  const config = method === 'POST' ? app.streamsOf(endpointSlug) : undefined;
  return config && { config, owner: { appId: app.id, userId }, endpointSlug };
}

/** Starts keeping answers. */
@Injectable()
export class KeptAnswers {
  constructor(
    private readonly ids: StreamIds,
    private readonly store: StreamStore,
    private readonly publisher: StreamPublisher,
    private readonly responses: ResponseStreams,
  ) {}

  /**
   * Starts keeping an answer, and adds its id to the head.
   *
   * @returns undefined if that was not requested, or the request was not served.
   */
  begin(request: KeepRequest | undefined, { status, headers }: Head, style: ApiStyle): KeptStream | undefined {
    if (request === undefined || status < 200 || status > 299) return undefined;
    const { config, owner, endpointSlug } = request;
    const { max_bytes: maxBytes, resume_seconds: resumeSeconds } = config;
    const named = this.ids.issue(owner, resumeSeconds);
    const { id, mark } = named;
    const typeAt = headers.indexOf('content-type');
    const contentType = typeAt < 0 ? '' : (headers[typeAt + 1] ?? '');
    headers.push(STREAM_HEADER, id);
    const { appId } = owner;
    const stream = this.store.begin({ id, mark, appId, endpointSlug, status, contentType, maxBytes, resumeSeconds });
    request.claim?.begin(stream);
    if (style === 'responses') this.responses.note(stream, owner);
    if (this.publisher.isUsed) this.publisher.publish(stream, named);
    return stream;
  }
}
